/** What keeps Zoneplane from starting, said to the person who can change it: shown without stack trace, exit code 1. */
export class SetupError extends Error {}
