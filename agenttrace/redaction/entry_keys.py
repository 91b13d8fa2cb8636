"""The tables of the keys under which an entry has its name, and its value: ``{"Name": …, "Value": …}``."""

from __future__ import annotations

NAMES_OF_VALUES = (
    *("name", "key", "header", "field", "Name", "Key", "NAME", "KEY"),
    *("id", "label", "title", "parameter", "variable", "option"),
    *("Header", "Field", "Id", "Label", "Parameter", "Variable", "Option", "ParameterKey", "OptionName"),
    *("setting", "config_key", "configKey", "property", "property_name", "propertyName", "attribute", "attr"),
    *("param", "column", "env", "env_var", "envVar", "var", "variable_name", "variableName", "flag", "arg"),
    *("setting_name", "secret_name", "secretName", "parameter_name", "header_name", "key_name", "keyName"),
    *("config", "prop", "secret_id", "secretId", "path"),
    *("field_name", "fieldName", "input_name", "inputName", "k", "headerName", "paramName"),
)
VALUES = (
    *(
        "value",
        "Value",
        "VALUE",
        "Values",
        "val",
        "ParameterValue",
        "v",
        "stringValue",
        "new_value",
        "newValue",
    ),
    *("config_value", "configValue", "field_value", "fieldValue", "property_value", "propertyValue"),
    *("variable_value", "variableValue", "setting_value", "secret_value", "secretValue", "parameter_value"),
    *("header_value", "env_value", "key_value", "headerValue", "envValue", "paramValue"),
    *("rejectedValue", "rejected_value"),
    *("set_to", "setTo", "equals"),
    *("old", "new", "old_value", "oldValue", "before", "after"),
)
