"""What the demo's writer, annotators and translator know of Chinese: sentences about its captions."""

from collections.abc import Mapping
from functools import cache

from benchc.errors import InputError

CHINESE = "Chinese"
# Of the categories with captions (``captioned.CATEGORIES``).
ANSWERS = {
    "red": "红色",
    "blue": "蓝色",
    "green": "绿色",
    "yellow": "黄色",
    "purple": "紫色",
    "orange": "橙色",
    "rising": "上升",
    "falling": "下降",
    "flat": "持平",
    "peak": "先升后降",
    "valley": "先降后升",
    "circle": "圆形",
    "square": "正方形",
    "triangle": "三角形",
    "cross": "十字形",
    "star": "星形",
    "ring": "环形",
    "up": "向上",
    "down": "向下",
    "left": "向左",
    "right": "向右",
    "top left": "左上角",
    "bottom right": "右下角",
    "top right": "右上角",
    "bottom left": "左下角",
    "centre": "中央",
}
QUESTIONS = {
    "Which colour is the highest bar?": "最高的柱子是什么颜色？",
    "Which bar is the highest?": "哪根柱子最高？",
    "Which trend does the line show?": "这条线显示什么趋势？",
    "What does the line do?": "这条线怎样变化？",
    "Which shape is shown?": "图中显示的是哪种形状？",
    "What kind of shape is it?": "这是什么形状？",
    "Which way does the arrow point?": "箭头朝哪个方向？",
    "Where does the arrow point to?": "箭头指向哪里？",
    "Where is the ball?": "球在哪里？",
    "In which part of the picture is the ball?": "球在图片的哪个部分？",
}
# Of the writer (``writer.ASKED``, ``SUBJECTS``, ``CHOSEN`` and ``WHICH``).
SENTENCES = {
    "Is {answer} the answer to the question: {question}": "{answer}是这个问题的答案吗：{question}",
    "Would {answer} be the right answer here? {question}": "{answer}会是这里的正确答案吗？{question}",
    "Look at the picture. {question} Is it {answer}?": "请看图片。{question}是{answer}吗？",
    "Is the right answer {answer}? {question}": "正确答案是{answer}吗？{question}",
    "Can this question be answered with the picture: {question}": "根据图片能回答这个问题吗：{question}",
    "Does the picture show what this question asks about? {question}": "图片显示了所问的内容吗？{question}",
    "Is this a question about what is in the picture? {question}": "这个问题问的是图片中的内容吗？{question}",
    "Does this question fit the picture? {question}": "这个问题与图片相符吗？{question}",
    "{question}": "{question}",
    "Which answer is right? {question}": "哪个答案正确？{question}",
    "Look at the picture. {question}": "请看图片。{question}",
    "What is the answer to this question? {question}": "这个问题的答案是什么？{question}",
    "Which question fits the picture?": "哪个问题与图片相符？",
    "Which question can be answered with the picture?": "根据图片能回答哪个问题？",
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
