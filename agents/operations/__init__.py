"""What an operator asks: is it well, how large is it, how busy. Nothing here changes anything."""
