"""Which language a text is in, by cheap means: its script, its commonest words, its letters.

That is enough to choose a stemmer and to know which words of a question ask rather than tell. A
text that is taken for another language loses nothing: stems are looked for beside its words, never
in their place (`terms`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from .folding import folded

DEFAULT = "english"  # of Latin letters without any common word

# The words that stand in any text of a language, and those that questions are made of: lower case,
# without diacritics. What two languages share counts half for each.
COMMON = {
    "english": """
        a about after again all also am an and any are as at be because been before being but by
        can could d did didn do does doesn doing don down each even for from had has have having he
        her here hers him his how i if in into is isn it its just ll m may me might mine my no nor
        not of off on once only or other our ours out over own re s said same say shall she should
        so some such t than that the their theirs them then there these they this those through to
        too under until up us ve very was wasn we were weren what when where whether which while
        who whom whose why will with won would wouldn you your yours""",
    "german": """
        aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin
        bis bist da damit dann das dass dein deine dem den denn der des dich die dies diese diesem
        diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas
        euch euer fur gegen gibt habe haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr ihre
        ihrem ihren ihrer im in ins ist ja jede jeder jetzt kann kein keine konnen konnte man mehr
        mein meine meinem meinen meiner mich mir mit muss nach nicht nichts noch nun nur ob oder
        ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte uber um
        und uns unser unsere unter viel vom von vor wann war waren warum was weil welche welchem
        welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso will wir wird
        wo woher wohin wollen wollte wurde wurden zu zum zur""",
    "french": """
        a ai alors apres as au aussi autre aux avait avant avec avez avoir avons c ca car ce ceci
        cela ces cet cette chez ci comme comment d dans de des depuis donc dont du elle elles en
        encore es est et etaient etait ete etre eu eux fait il ils j je jusqu l la laquelle le
        lequel les leur leurs lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou
        par pas peu plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se
        sera ses si son sont suis sur t ta te tes toi ton tous tout toute tres tu un une va vers
        voici vos votre vous y""",
    "spanish": """
        a al algo antes aquel aqui asi aun aunque cada como con contra cual cuales cuando cuanto
        cuantos de del desde donde dos durante e el ella ellas ellos en entre era eran eres es esa
        esas ese eso esos esta estaba estado estan estar este esto estos estoy fue fueron ha habia
        hace hacia han hasta hay he la las le les lo los mas me mi mis mucho muy nada ni no nos
        nosotros o os otra otro otros para pero poco por porque que quien quienes se sea ser si sin
        sobre son soy su sus tambien tan te tenia tengo ti tiene todo todos tu tus un una uno unos
        y ya yo""",
    "italian": """
        a abbiamo ad agli ai al alla alle allo anche ancora avere aveva c che chi ci ciao come con
        cosa cui da dai dal dalla dalle dei del dell della delle dello di dopo dove e ed era erano
        essere fa fare fra gia gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi
        mia mie miei mio molto ne nei nel nella nelle noi non nostra nostro o ogni per perche pero
        piu poi prima qual quale quali quando quanti quanto quella quelle quello questa queste
        questi questo qui se sei senza si sia siamo sono sta stata stato su sua sue sui sul sulla
        suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi""",
    "portuguese": """
        a ainda alguem ao aos apos aquela aquele as ate com como da das de dela dele delas deles
        depois do dos e ela elas ele eles em entre era eram essa esse esta estao estar estava este
        estou eu foi foram ha isso isto ja la lhe mais mas me mesmo meu meus minha minhas muito na
        nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque
        qual quais quando quanto quantos que quem se sem ser seu seus so sou sua suas tambem te tem
        tenho ter teu tinha toda todos tu tua tudo um uma voce voces""",
    "dutch": """
        aan al alle als altijd andere ben bij daar dan dat de deze die dit doch doen door dus een
        eens en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun ik in is ja
        je jij jou jouw kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu
        of om omdat ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar
        waarom wanneer want waren was wat we weer welk welke werd wie wij wil worden wordt zal ze
        zei zelf zich zij zijn zo zonder zou""",
    "swedish": """
        alla allt att av bara blev bli blir da de dem den denna deras det detta dig din dina ditt
        du efter ej eller en ett fran for ga han hans har hade hennes hon honom hur i icke inte jag
        ju kan kunde man med mellan men mer mig min mina mitt mot mycket nagon nagot nar ni nu och
        om oss pa sa samma sedan sig sin sina sitt ska skulle som till under upp ut utan vad var
        vara varfor vart vem vi vid vilka vilken vilket ar""",
    "danish": """
        ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din
        disse dog du efter eller en end er et for fra ham han hans har havde have hende hendes her
        hos hun hvad hvem hvilken hvis hvor hvordan hvorfor hvornar i ikke ind jeg jer kan kunne
        man mange med meget men mig min mine mit mod nar ned nogen noget nogle nu og ogsa om op os
        over pa sadan sig sin skal skulle som til ud under var vi vil ville vor være været""",
    "norwegian": """
        alle andre at av bare ble bli blir da de deg den der dere deres det dette din du eller en
        enn er et ett etter for fordi fra ha hadde han hans har henne hennes her hun hva hvem hver
        hvilken hvis hvor hvordan hvorfor i ikke inn jeg kan kom kunne man mange med meg meget
        mellom men mer min mine mitt mot na nar noe noen og ogsa om opp oss over pa sa seg selv ser
        sin skal skulle som til ut uten var vare vi vil ville vart være vært""",
    "finnish": """
        ei eika ella emme en et ette etta han hanen hanta he heidan hyvin ja jo joka jos jossa
        jotka kanssa keta ketka kuin kuinka kuka kun me meidan mika miksi milloin mina minka minua
        minulla minulle minun missa mista mita mukaan mutta myos ne niin nyt ole olen olet oli olin
        olisi olivat olla on onko ovat pois saa se sen siella siina sina sinun sita tai taalla tama
        taman te tuo vaan vai vain viela""",
    "hungarian": """
        a abban ahol aki akkor al alatt ami amit az azert azok azt be csak de egy egyik el en es ez
        ezek ezt fel ha hanem hogy hogyan hol igen ill is itt jo kell ki kicsit legy lehet lesz le
        ma mar me meg mely mert mi miert mikor milyen minden mint mit most na nagy ne neki nekem
        nem nincs o ok ott pedig s sem sok szerint ti te tehat tud ugy utan vagy vagyok van vannak
        volt voltam voltak""",
    "romanian": """
        a acea aceasta aceea acel acest acesta aici al ale am ar are as asa asta atunci au avea
        avem ca cand care cat ce cei cele cine cu cum da daca dar de decat deci despre din dintre
        doar dupa e ea ei el ele era este eu face fara fi fost iar ii il in inca intr intre isi la
        le lor lui ma mai mea meu mi mult ne nici nimic noi nostru nu o or pe pentru prin sa sau se
        si sunt te toate tot tu un una unde unei unui va voi""",
    "turkish": """
        acaba ama ancak artik asla bana bazi belki ben benden beni benim bir biri birkac biz bize
        bizim bu buna bunda bunlar bunu bunun cok cunku da daha de degil diye en gibi hem hep hepsi
        her hic icin ile ise iste kadar ki kim kime kimin mi mu nasil ne neden nedir nerede nereye
        niye o olan olarak oldu onlar onu onun sana sen seni senin siz sizin su ve veya var vardi
        ya yani yok zaman""",
    "polish": """
        aby ale bardzo bez bo by byc byl byla byli bylo bym byly ci co czy dla do gdy gdzie go i
        ich ile im ja jak jaka jaki jakie je jego jej jest jestem jeszcze juz kiedy kto ktora ktore
        ktory ktorzy ma mam mi mnie moj moja moje mu na nad nam nas nasz nia nic nich nie nim niz o
        od on ona one oni ono oraz po pod poniewaz przed przez przy sa sie skad swoj ta tak takze
        tam te tego tej temu ten to tu twoj ty tych tylko tym u w we wiec wszystko z za ze""",
    "czech": """
        aby ale ani ano asi az bez bude budu by byl byla byli bylo byt co coz dalsi do ho i ja jak
        jake jako je jeho jej jejich jeji jen jeste ji jsem jsi jsme jsou jste k kam kde kdo kdy
        kdyz ktera ktere ktery ma mam mate me mezi mi mit mne moje mu muj na nad nas ne nebo nejsou
        nez nic o od on ona oni pak po pod podle pokud pro proc proto protoze pred pri s se si sve
        svuj ta tak take tam te ten to toho tohle tom tomu tu tvuj ty u uz v ve vice vsak vse z za
        ze""",
    "russian": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже
        для до его ее если есть еще же за здесь и из или им их к как какая какие какой когда кого
        кто куда ли мне мое мои мой моя мы на над нам нас не него нее нет ни них но ну о об однако
        он она они оно от очень по под после потом потому почему при про с сам свой сейчас со так
        также там тебе тебя то тогда того тоже только том тут ты у уже хотя чего чем что чтобы чье
        чья эта эти это этого этой этом этот я""",
    "greek": """
        ακομα αλλα αν απο αυτα αυτη αυτο αυτος αυτου για γιατι δεν ειμαι ειναι ειχα ειχε εγω εδω
        εκει εμεις εναν ενας ενα ενος εσυ εχει εχουν εχω η ηταν θα και κι κατα με μας μετα μη μια
        μου μονο να ο οι ολα ομως οπου οπως οταν οτι ου ουτε παρα ποια ποιο ποιος πολυ ποσα ποτε
        που πριν προς πως σαν σας σε στα στη στην στις στο στον στους σου τα τη την της τι τις το
        τον του τους των ωστε""",
    "arabic": """
        ابي اذا الا التي الذي الى ان انا انت انه اي اين بعد بين تكون ثم حتى حول خلال ذلك عن عند على
        علي عندما في فيه قبل قد كان كانت كل كم كما كيف لا لكن لم لماذا لن له لها لي ليس ما ماذا متى
        مع من منذ منه نحن نعم هذا هذه هل هم هنا هناك هو هي و يا يكون""",
    "hindi": """
        अपना अपनी अपने अब आप इस इसका इसके उस उसका उसकी उसके एक और कब कर करता करते करना करने कहाँ
        कहां का कि किया किस किसका किसने किसी की कुछ के कैसे को कोई कौन क्या क्यों गया गई जब जो तक
        तब तो था थी थे दिया दो ने नहीं पर फिर बहुत भी मुझे में मेरा मेरी मेरे मैं मैंने यह यहाँ या
        ये रहा रही रहे लिए वह वहाँ वे सब साथ से हम हमारा हमारी हमारे ही हुआ हुई हुए हूँ हूं है हैं
        हो होता होती""",
}  # fmt: skip

# Letters that tell languages apart whose words alone do not.
LETTERS = {
    "ß": ("german",), "ä": ("german", "swedish", "finnish"), "ö": ("german", "swedish", "finnish"),
    "ü": ("german", "turkish", "hungarian"), "ñ": ("spanish",), "¿": ("spanish",),
    "¡": ("spanish",), "ã": ("portuguese",), "õ": ("portuguese",), "ç": ("french", "portuguese"),
    "è": ("french", "italian"), "ê": ("french", "portuguese"), "à": ("french", "italian"),
    "ù": ("french", "italian"), "ò": ("italian",), "ì": ("italian",), "î": ("french", "romanian"),
    "œ": ("french",), "å": ("swedish", "danish", "norwegian"), "ø": ("danish", "norwegian"),
    "æ": ("danish", "norwegian"), "ő": ("hungarian",), "ű": ("hungarian",), "ı": ("turkish",),
    "ğ": ("turkish",), "ş": ("turkish",), "ț": ("romanian",), "ș": ("romanian",),
    "ă": ("romanian",), "ł": ("polish",), "ą": ("polish",), "ę": ("polish",), "ś": ("polish",),
    "ż": ("polish",), "ć": ("polish",), "ě": ("czech",), "ř": ("czech",), "ů": ("czech",),
    "č": ("czech",), "š": ("czech",), "ž": ("czech",),
}  # fmt: skip
LETTER_WEIGHT = 0.5
LIKELY, SURE = 1.0, 2.0  # so many words, and English, or another language, is not doubted

# Scripts other than Latin, and the language whose stemmer is right for them. Letters of another
# language in the same script, such as Ukrainian or Persian, mean that there is none.
SCRIPTS = (
    (re.compile("[а-яё]"), "russian", re.compile("[ђјљњћџѓќѕіїєґў]")),
    (re.compile("[α-ω]"), "greek", None),
    (re.compile("[ء-ي]"), "arabic", re.compile("[پچژگکیٹڈڑےہ]")),
    (re.compile("[\u0900-\u097f]"), "hindi", None),
)
_latin = re.compile("[a-zß-öø-ɏ]")


common_words = {
    language: frozenset(map(folded, words.split())) for language, words in COMMON.items()
}
_languages_of: dict[str, list[str]] = defaultdict(list)
for _language, _words in common_words.items():
    for _word in _words:
        _languages_of[_word].append(_language)
LATIN = tuple(language for language in COMMON if language not in {name for _, name, _ in SCRIPTS})


def languages_of(text: str, words: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """The languages a text in lower case may be in, and whether that is sure; `words` are its words
    without diacritics.

    English is among them where little speaks for another language in Latin letters; there are none
    for a script or a language that has no stemmer here.
    """
    for letters, language, others in () if text.isascii() else SCRIPTS:
        if letters.search(text) and not _latin.search(text):
            return (() if others and others.search(text) else (language,)), True
    scores = _scores(text, words)
    if not scores:
        latin = bool(_latin.search(text))
        return ((DEFAULT,) if latin else ()), not latin
    most = max(scores.values())
    best = tuple(language for language, score in scores.items() if score == most)
    if DEFAULT in best:
        return (DEFAULT,), most >= LIKELY
    return (best, True) if most >= SURE else ((*best, DEFAULT), False)


def _scores(text: str, words: Iterable[str]) -> dict[str, float]:
    scores: dict[str, float] = defaultdict(float)
    for word in set(words):
        if languages := _languages_of.get(word):
            for language in languages:
                scores[language] += 1 / len(languages)
    if not text.isascii():
        for letter in LETTERS.keys() & set(text):
            for language in LETTERS[letter]:
                scores[language] += LETTER_WEIGHT
    return scores
