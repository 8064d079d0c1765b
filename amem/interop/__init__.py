"""Files of notes and chats in (Markdown, text, JSON Lines, chat exports, mem0, Chroma), JSON Lines and graphs out."""
