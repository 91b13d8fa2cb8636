from agenttrace.reports.text import plain, table_lines


def test_columns_are_as_wide_as_their_widest_cell():
    text = plain(table_lines(("ID", "NAME"), [("1", "search"), ("22", "x")]))
    assert text.splitlines() == ["ID  NAME", "1   search", "22  x"]


def test_long_cells_are_cut_and_control_characters_escaped():
    text = plain(table_lines(("NAME",), [("n" * 100,), ("\x1b[2J",)]))
    assert text.splitlines()[1:] == ["n" * 39 + "…", "\\x1b[2J"]
