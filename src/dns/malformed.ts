/** Record content is not acceptable; the message is the whole text for the user (contract §9.3). */
export class Malformed extends Error {}

/** The content can be read, but breaks a rule of ours. */
export class Refused extends Malformed {}

/** A field cannot be read; the message is the reason alone, for a field does not know which type it belongs to. */
export class Unreadable extends Error {}

/** Something stands where only a quoted string could hold it. */
export class Unquoted extends Unreadable {}
