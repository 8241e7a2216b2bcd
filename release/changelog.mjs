// CHANGELOG.md, in the form of Keep a Changelog: sections of versions, the newest first, below one of what is not released.
// Plain JavaScript, as all that makes packages.

const HEADING = /^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$/

/** The kinds of changes that Keep a Changelog knows. */
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

/**
 * Returns the sections: `version`, `date` and `text`, without its heading.
 * @throws Error that says what is wrong with the form
 */
export function sectionsOf(changelog) {
  const sections = []
  for (const line of changelog.split('\n')) {
    if (line.startsWith('## ')) {
      const [, version, date] = HEADING.exec(line) ?? []
      if (version === undefined) throw new Error(`CHANGELOG.md: "${line}" is not "## [VERSION] - YYYY-MM-DD"`)
      sections.push({ version, date, text: '' })
    } else if (sections.length > 0) {
      const [, kind] = /^### (.*)$/.exec(line) ?? []
      if (kind !== undefined && !KINDS.includes(kind))
        throw new Error(`CHANGELOG.md: "${kind}" is none of ${KINDS.join(', ')}`)
      sections.at(-1).text += `${line}\n`
    }
  }
  for (const section of sections) section.text = section.text.trim()
  const [first, ...versions] = sections
  if (first?.version !== 'Unreleased' || first.date !== undefined)
    throw new Error('CHANGELOG.md: the first section must be "## [Unreleased]"')
  for (const { version, date, text } of versions) {
    if (date === undefined) throw new Error(`CHANGELOG.md: ${version} has no date`)
    if (text === '') throw new Error(`CHANGELOG.md: ${version} has no changes`)
  }
  return sections
}

/**
 * Returns the changes of a version that is released now. @throws Error unless it is the newest one, and all changes are in
 * a version
 */
export function changesOf(changelog, version) {
  const [unreleased, newest] = sectionsOf(changelog)
  if (unreleased.text !== '') throw new Error('CHANGELOG.md: there are unreleased changes')
  if (newest?.version !== version)
    throw new Error(`CHANGELOG.md: the newest version is ${newest?.version}, not ${version}`)
  return newest.text
}

/** Returns the changelog with a new version, to which what was unreleased belongs. @throws Error if that is nothing */
export function withVersion(changelog, version, date) {
  const [unreleased] = sectionsOf(changelog)
  if (unreleased.text === '') throw new Error('CHANGELOG.md: there are no unreleased changes')
  return changelog.replace(/^## \[Unreleased\]$/m, `## [Unreleased]\n\n## [${version}] - ${date}`)
}
