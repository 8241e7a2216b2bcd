/** Why Zoneplane cannot start, and what the user can do about it. Shown without a stack trace; the exit code is 1. */
export class SetupError extends Error {}
