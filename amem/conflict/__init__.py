"""Do two notes get in each other's way, and which of them is true now?"""
