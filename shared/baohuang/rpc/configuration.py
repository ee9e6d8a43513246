"""Settings from the environment, and what is wrong with them: told by the variable's name, never by its value.

A value in the wrong place is a secret more often than not, so an error repeats none, not even of another variable.
"""

from typing import Any, Final, NoReturn, TypeVar

from pydantic import ValidationError, field_validator
from pydantic_settings import BaseSettings

_S = TypeVar("_S", bound=BaseSettings)
_OWN: Final = "Value error, "
"""What pydantic puts before the text of a ValueError of ours."""


class ConfigurationError(Exception):
    """Variables of the environment cannot be used. The text names them, and repeats no value of any."""


class EnvironmentSettings(BaseSettings):
    """Settings out of the environment, where white space around a value is none of it: files end in a line break."""

    @field_validator("*", mode="before")
    @classmethod
    def _bare(cls, value: object) -> object:
        """Take away what surrounds a text."""
        return value.strip() if isinstance(value, str) else value


def from_environment(settings_class: type[_S]) -> _S:
    """Read the settings. Raises ConfigurationError."""
    try:
        return settings_class()
    except ValidationError as error:
        _refuse(settings_class, error)


def _refuse(settings_class: type[BaseSettings], error: ValidationError) -> NoReturn:
    told = error.errors(include_input=False, include_url=False, include_context=False)
    raise ConfigurationError("; ".join(_worded(settings_class, one) for one in told)) from None


def _worded(settings_class: type[BaseSettings], one: Any) -> str:
    """Say what is wrong with one variable, or with several together, which the text names itself."""
    text = str(one["msg"]).removeprefix(_OWN)
    text = "is not set" if one["type"] == "missing" else text[:1].lower() + text[1:] if one["loc"] else text
    return f"{variable_of(settings_class, str(one['loc'][0]))}: {text}" if one["loc"] else text


def variable_of(settings_class: type[BaseSettings], name: str) -> str:
    """Return the environment variable of a field, by the field's name or the variable's own."""
    field = settings_class.model_fields.get(name)
    if field is None:
        return name
    if isinstance(field.validation_alias, str):
        return field.validation_alias
    return f"{settings_class.model_config.get('env_prefix', '')}{name}".upper()
