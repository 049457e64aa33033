"""What a text is indexed by and what a query asks for: words as they stand, and their stems."""

from __future__ import annotations

import pytest

from agents.text.folding import folded, words_of
from agents.text.languages import COMMON, common_words, languages_of
from agents.text.terms import MARKS, query_terms, terms

SENTENCES = {
    "english": "We were going to the lake because it was so warm",
    "german": "Wir haben gestern die Wohnung am See angesehen",
    "french": "Nous avons vu une maison au bord de la mer",
    "spanish": "Hemos visto una casa que está cerca de la playa",
    "italian": "Abbiamo visto una casa che non era molto lontano dal mare",
    "portuguese": "Nós vimos uma casa que não estava longe da praia",
    "dutch": "Wij hebben een huis gezien dat niet ver van het strand was",
    "swedish": "Vi har sett ett hus som inte var långt från havet",
    "danish": "Vi har set et hus, hvor der ikke var langt til havet, og hvad så",
    "norwegian": "Vi har sett et hus, men hva skal vi gjøre nå med den gamle hytta",
    "finnish": "Me olemme nähneet talon, joka ei ole kaukana meren rannasta",
    "hungarian": "Láttunk egy házat, ami nem volt messze a tengertől, és nagyon szép",
    "romanian": "Am văzut o casă care nu era departe de mare și este foarte frumoasă",
    "turkish": "Denize çok uzak olmayan bir ev gördük ve daha sonra onu aldık",
    "polish": "Widzieliśmy dom, który nie był daleko od morza, i bardzo nam się podobał",
    "czech": "Viděli jsme dům, který nebyl daleko od moře, a jsme velmi rádi",
    "russian": "Мы видели дом, который был недалеко от моря",
    "greek": "Είδαμε ένα σπίτι που δεν ήταν μακριά από τη θάλασσα",
    "arabic": "رأينا بيتا لم يكن بعيدا عن البحر",
    "hindi": "हमने एक घर देखा जो समुद्र से दूर नहीं था",
}


def language(text: str) -> tuple[str, ...]:
    return languages_of(text.lower(), [folded(word) for word in words_of(text)])[0]


def found(query: str, text: str) -> bool:
    """Whether a text holds a form of every word that a query asks for."""
    held = set(terms(text))
    return all(held.intersection(word) for word in query_terms(query).words)


def bare(query: str) -> list[str]:
    return sorted(word[0] for word in query_terms(query).words)


@pytest.mark.parametrize("name", COMMON)
def test_a_sentence_shows_its_language(name: str) -> None:
    assert language(SENTENCES[name])[0] == name


def test_a_text_that_shows_little_may_be_english_too() -> None:
    assert language("Pizza!") == ("english",)
    assert "english" in language("Two thousand a month till April")
    assert "english" in language("Poor Andre, and the hans")


def test_a_script_or_an_alphabet_without_a_stemmer_has_no_language() -> None:
    for text in (
        "東京都に住んでいます",
        "ผมชอบกินข้าวผัด",
        "Ми живемо в Києві, і це добре",
        "🎂",
        "12",
    ):
        assert language(text) == ()
    assert terms("Києві") == ["києві".replace("ї", "і")]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "She runs every morning"),
        ("berries", "A berry a day"),
        ("happiness", "I am so happy today"),
        ("organisation", "They organised it"),
        ("Häuser", "Das ist ein großes Haus, und es ist alt"),
        ("Welche Wohnungen haben wir angesehen?", "Die Wohnung wurde von uns angesehen"),
        ("Où sont les chevaux blancs ?", "Le cheval blanc est dans les chevaux"),
        ("Où sont les maisons ?", "La maison est sur la plage"),
        ("какие дома", "Мы видели новый дом, он был красивый"),
        ("¿Dónde están las casas bonitas?", "Hemos visto una casa que es muy bonita"),
        ("στους δρόμους", "Ο δρόμος είναι μεγάλος και το σπίτι"),
    ],
)
def test_another_form_of_a_word_is_found(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES.values(),
        "Crème brûlée at the Café Müller, £4.50 (see https://example.org/x_y-z)",
        "Das Meeting mit dem Recruiter war nicht so schlecht, wir haben ein Follow-up",
        "covid19 H2O iPhone15 3D",
        "Ärger im Büro wegen der Größe",
        "Widely differing STUDIES of news, buses and glasses",
    ],
)
def test_a_word_is_always_found_as_it_stands(text: str) -> None:
    for word in words_of(text):
        assert found(word, text), word
        assert found(word.upper(), text), word
        assert found(folded(word), text), word


def test_a_word_of_another_language_in_a_text_is_found_as_it_stands() -> None:
    text = "Ich habe heute mit meiner Chefin über das Running und die Onboardings gesprochen"
    assert found("Did we talk about running?", "We talk about " + text)
    assert found("running", text)
    assert found("onboardings", text)


def test_stems_of_one_language_are_no_words_of_another() -> None:
    # French makes "port" of "porter", and English "porte" of nothing of the kind.
    assert not found("porters", "Le port est dans la ville, et il est grand")
    assert not found("car", "He took great care of her")
    assert not found("new", "The news of the day were good")


def test_what_asks_is_left_out_unless_there_is_nothing_else() -> None:
    assert bare("What is the name of my dog?") == ["dog", "name"]
    assert bare("When did she move to Oslo?") == ["move", "oslo"]
    assert bare("What's it about?") == ["about", "it", "s", "what"]
    assert bare("to be or not to be") == ["be", "not", "or", "to"]
    assert bare("Wie heißt der Hund von meiner Schwester?") == ["heisst", "hund", "schwester"]
    assert bare("Где я живу?") == ["живу"]
    assert bare("Was") == ["was"]
    assert bare("dog walker") == ["dog", "walker"], "What is common in Danish only is not left out"


def test_forms_of_one_word_are_asked_for_once() -> None:
    (word,) = query_terms("dog dogs Dog DOGS").words
    assert {"dog", "dogs"} <= set(word)


def test_scripts_without_spaces_give_characters_and_pairs() -> None:
    assert terms("東京都") == ["東", "京", "都", "東京", "京都"]
    assert [word for (word,) in query_terms("京都に").words] == ["京都", "都に"]
    assert query_terms("京").words == [("京",)]
    assert "ab" in terms("ab東京")


def test_words_are_cut_and_numbers_have_no_stem() -> None:
    assert terms("1990s 15 x") == ["1990s", "15", "x"]
    assert terms("a" * 100)[0] == "a" * 64
    assert terms("\u0301 \u0301 !!!") == []
    assert query_terms(" ".join(f"word{n}" for n in range(1000))).words[31:] != []
    assert len(query_terms(" ".join(f"word{n}" for n in range(1000))).words) == 32


def test_no_text_can_forge_a_stem() -> None:
    assert terms(f"{MARKS[0]}dog") == terms("dog")


def test_common_words_are_written_as_texts_are_compared() -> None:
    for words in common_words.values():
        assert all(words_of(word) == [word] and folded(word) == word for word in words)
