-- What the words of a text mean, each by itself, packed beside the vector of the whole; and how a space packs them, '' for one
-- that holds none.
ALTER TABLE vectors ADD COLUMN tokens BLOB;
ALTER TABLE spaces ADD COLUMN tokens TEXT NOT NULL DEFAULT '';
