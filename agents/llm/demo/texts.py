"""The demo model's longer texts."""

ABOUT = """\
I am the demo model: a small set of rules, not a language model. I understand only a few things, \
for example:

- “My name is Sarah and I like cherry pie”: watch core memory change.
- “What do you know about me?”
- “Remember for later that the spare key is under the mat”, and then “Where is the spare key?”
- “Show me some code”, or “Tell me a long story”, and press Stop.

To talk with a real model, set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a server of your own, \
and start memoryweb again."""
CODE = """\
Here is a small Python function:

```python
def greet(name: str, times: int = 1) -> list[str]:
    return [f"Hello, {name}!" for _ in range(times)]
```

It makes the same greeting as often as you say."""
FINDS = {
    "Monday": "a brass key that smelled of salt and old rope",
    "Tuesday": "a blue envelope that smelled of rain on warm stone",
    "Wednesday": "half of a map that smelled of oranges and ink",
    "Thursday": "a clock without hands that smelled of candle smoke",
    "Friday": "a jar of fireflies that smelled of cut grass",
    "Saturday": "the other half of the map, which smelled of fresh bread",
    "Sunday": "a door in the hill, behind which she heard the open sea",
}
DAY = (
    "On {} she found {}. It lay where nothing had been the evening before. She turned it over"
    " twice, wrote down the hour, and carried it to the lighthouse keeper, who looked at it for a"
    " long time and said only that we remember what somebody takes the trouble to note."
)
STORY = "\n\n".join(
    [
        "There was once a woman who wrote down everything, for fear of forgetting it.",
        *(DAY.format(day, find) for day, find in FINDS.items()),
        "And when the week was over she read her notes, and knew the way home.",
    ]
)
