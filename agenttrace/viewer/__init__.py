"""The pages on which a store is looked at: in a browser, as JSON, as one file to send.

A page is a pure function of what is stored and of what was asked: ``page(reads, asked) -> (status, html)``.
`app` serves them, `report` writes them into a file.
"""
