/** The service does not accept the content of a record; the message is the whole text for the user (contract §9.3). */
export class Malformed extends Error {}

/** The service can read the content, but it breaks a rule of the service. */
export class Refused extends Malformed {}

/** A field is not readable; the message is only the reason, because a field does not know its record type. */
export class Unreadable extends Error {}

/** A character is not allowed outside of a quoted string. */
export class Unquoted extends Unreadable {}
