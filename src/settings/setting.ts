/** A setting of a process: an environment variable. */
export interface Setting<T> {
  name: string
  /** Parses the variable's text. @throws Error whose message describes a valid text */
  read: (text: string) => T
  /** The value of a variable that is unset or blank. */
  fallback: T
  /** The default for readers: a text of the variable in double quotes, or words. */
  usual: string
  /** Whether it is a secret, which a file can hold instead: the variable with `_FILE` after its name has the path. */
  isSecret?: boolean
  /** The meaning, on one line. Texts of variables are in double quotes, documents are paths from the project's root. */
  meaning: string
}

/** Completes a setting with its meaning. */
type Meaning<T> = (text: TemplateStringsArray) => Setting<T>

/** Declares a setting whose default is the value of a text. */
export function setting<T>(name: string, read: (text: string) => T, usual: string): Meaning<T> {
  return unset(name, read, read(usual), `"${usual}"`)
}

/** Declares a setting whose default no text means. @param usual the default in words */
export function unset<T>(name: string, read: (text: string) => T, fallback: NoInfer<T>, usual = 'none'): Meaning<T> {
  return ([text = '']) => ({ name, read, fallback, usual, meaning: text.trim().replace(/\s+/g, ' ') })
}

/** Declares a setting without a default. @param usual the consequence in words */
export function optional<T>(name: string, read: (text: string) => T, usual?: string): Meaning<T | undefined> {
  return unset<T | undefined>(name, read, undefined, usual)
}

/** Declares that a setting is a secret. */
export function secret<T>(setting: Setting<T>): Setting<T> {
  return { ...setting, isSecret: true }
}
