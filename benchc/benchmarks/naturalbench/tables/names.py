"""Names of types of questions in tables."""

TYPE_LABELS = {"yes_no": "yes/no", "multiple_choice": "multiple choice"}
