"""The fake server's embeddings: words that mean the same lie at the same place.

A text's vector is the sum of its words' directions, each drawn from the word's hash; synonyms share
one. So "hound" is near "dog", which shares no word with it, and far from "tax".
"""

import base64
import random
import re
import struct
from typing import Any

from tests.support.openai_answers import Body, Refusal

SYNONYMS = (
    ("dog", "hound", "puppy"),
    ("car", "automobile", "vehicle"),
    ("doctor", "physician"),
    ("happy", "glad", "cheerful"),
)
_meaning = {word: words[0] for words in SYNONYMS for word in words}
LITTLE = re.compile(r"(?:an?|and|at|he|her|his|i|in|is|it|my|of|on|she|the|their|to|was|we)\Z")


def vector_of(text: str, dimensions: int) -> list[float]:
    """A text's vector; not of length 1, as not every server's are."""
    total = [1e-3] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        if not LITTLE.match(word):
            drawn = random.Random(_meaning.get(word, word))
            total = [sum_ + drawn.gauss(0, 1) for sum_ in total]
    return total


def embeddings(body: Body, models: dict[str, int], refused: str) -> Body:
    """The answer to a request; Refusal where the API would refuse it, or a text has `refused`."""
    for name in ("model", "input"):
        if name not in body:
            raise Refusal(f"Missing required parameter: '{name}'.", name)
    if not isinstance(body["input"], str | list):
        raise Refusal("Invalid type for 'input'.", "input")
    if body["model"] not in models:
        raise Refusal(f"The model `{body['model']}` does not exist.", "model", status=404)
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if not texts or not all(texts):
        raise Refusal("'$.input' is invalid: an input may not be empty.", "input")
    if len(texts) > 2048 or any(refused and refused in text for text in texts):
        raise Refusal("This model's maximum context length is 8192 tokens.", "input")
    data = [
        {"object": "embedding", "index": index, "embedding": _told(body, vector)}
        for index, vector in enumerate(vector_of(text, models[body["model"]]) for text in texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def _told(body: Body, vector: list[float]) -> Any:
    if body.get("encoding_format") != "base64":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
