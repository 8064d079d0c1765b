"""Files of notes and chats in (Markdown, text, JSONL, chat exports, mem0, Letta, Chroma), JSON Lines and graphs out."""
