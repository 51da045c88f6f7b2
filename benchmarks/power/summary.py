def summarised(rows):
    return rows


def table_in_markdown(s):
    return ""


def draw(s, p):
    pass
