"""What the demo's writer, annotators and translator know of Chinese: sentences about its captions.

They are in Hanyu Pinyin, since fonts with Chinese characters, which figures would need, are not everywhere.
"""

from collections.abc import Mapping
from functools import cache

from benchc.errors import InputError

CHINESE = "Chinese"
# Of the categories with captions (``captioned.CATEGORIES``).
ANSWERS = {
    "red": "hóngsè",
    "blue": "lánsè",
    "green": "lǜsè",
    "yellow": "huángsè",
    "purple": "zǐsè",
    "orange": "chéngsè",
    "rising": "shàngshēng",
    "falling": "xiàjiàng",
    "flat": "chípíng",
    "peak": "xiān shēng hòu jiàng",
    "valley": "xiān jiàng hòu shēng",
    "circle": "yuánxíng",
    "square": "zhèngfāngxíng",
    "triangle": "sānjiǎoxíng",
    "cross": "shízìxíng",
    "star": "xīngxíng",
    "ring": "huánxíng",
    "up": "xiàng shàng",
    "down": "xiàng xià",
    "left": "xiàng zuǒ",
    "right": "xiàng yòu",
    "top left": "zuǒshàngjiǎo",
    "bottom right": "yòuxiàjiǎo",
    "top right": "yòushàngjiǎo",
    "bottom left": "zuǒxiàjiǎo",
    "centre": "zhōngyāng",
}
QUESTIONS = {
    "Which colour is the highest bar?": "Zuì gāo de zhùzi shì shénme yánsè?",
    "Which bar is the highest?": "Nǎ gēn zhùzi zuì gāo?",
    "Which trend does the line show?": "Zhè tiáo xiàn xiǎnshì shénme qūshì?",
    "What does the line do?": "Zhè tiáo xiàn zěnyàng biànhuà?",
    "Which shape is shown?": "Tú zhōng xiǎnshì de shì nǎ zhǒng xíngzhuàng?",
    "What kind of shape is it?": "Zhè shì shénme xíngzhuàng?",
    "Which way does the arrow point?": "Jiàntóu cháo nǎge fāngxiàng?",
    "Where does the arrow point to?": "Jiàntóu zhǐ xiàng nǎlǐ?",
    "Where is the ball?": "Qiú zài nǎlǐ?",
    "In which part of the picture is the ball?": "Qiú zài túpiàn de nǎge bùfen?",
}
# Of the writer (``writer.ASKED``, ``SUBJECTS``, ``CHOSEN`` and ``WHICH``).
SENTENCES = {
    "Is {answer} the answer to the question: {question}": "{answer} shì zhège wèntí de dá'àn ma: {question}",
    "Would {answer} be the right answer here? {question}": "{answer} huì shì zhèngquè dá'àn ma? {question}",
    "Look at the picture. {question} Is it {answer}?": "Qǐng kàn túpiàn. {question} Shì {answer} ma?",
    "Is the right answer {answer}? {question}": "Zhèngquè dá'àn shì {answer} ma? {question}",
    "Can this question be answered with the picture: {question}": "Túpiàn néng huídá ma: {question}",
    "Does the picture show what this question asks about? {question}": "Túpiàn xiǎnshì le ma? {question}",
    "Is this a question about what is in the picture? {question}": "Wèn de shì túpiàn ma? {question}",
    "Does this question fit the picture? {question}": "Zhège wèntí yǔ túpiàn xiāngfú ma? {question}",
    "{question}": "{question}",
    "Which answer is right? {question}": "Nǎge dá'àn zhèngquè? {question}",
    "Look at the picture. {question}": "Qǐng kàn túpiàn. {question}",
    "What is the answer to this question? {question}": "Zhège wèntí de dá'àn shì shénme? {question}",
    "Which question fits the picture?": "Nǎge wèntí yǔ túpiàn xiāngfú?",
    "Which question can be answered with the picture?": "Túpiàn néng huídá nǎge wèntí?",
}


def in_language(text: str, language: str) -> str:
    """Return an English question or option of the demo's writer in a language, English or Chinese.

    Raises InputError for another language.
    """
    if language not in ("English", CHINESE):
        raise InputError(
            f"the demo's writer knows English and Chinese, not {language}; correct `language` of "
            "curate.captions, or give a real writer"
        )
    return _chinese()[text] if language == CHINESE else text


def in_english(text: str) -> str:
    """Return a question or option of the demo's writer in English; any other text stays as it is."""
    return _english().get(text, text)


@cache
def _chinese() -> Mapping[str, str]:
    """Return all questions and options by their English texts."""
    return ANSWERS | {
        english.format(answer=f'"{answer}"', question=question): chinese.format(
            answer=f'"{ANSWERS[answer]}"', question=QUESTIONS[question]
        )
        for english, chinese in SENTENCES.items()
        for question in QUESTIONS
        for answer in ANSWERS
    }


@cache
def _english() -> Mapping[str, str]:
    return {chinese: english for english, chinese in _chinese().items()}
