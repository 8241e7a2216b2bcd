// The page that answers OWASP ASVS, from its rows in docs/design/asvs.yml.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const PROJECT = new URL('..', import.meta.url)

const INTRODUCTION = `# OWASP ASVS 4.0.3

Chapters 2, 3, 4, 5, 7, 8, 9, 12 and 13, levels 1 and 2, without the items that the standard has deleted. _Met_, _partly_
and _not met_ are our own judgement. [security.md](security.md) says what Zoneplane promises.
`

/** Returns the page. Prettier would align its tables, so that a longer cell changes all lines. */
export function asvs() {
  const chapters = parse(readFileSync(new URL('docs/design/asvs.yml', PROJECT), 'utf8'))
  return [INTRODUCTION, ...chapters.map(chapter)].join('\n')
}

function chapter({ title, text, rows }) {
  const lines = rows.map(({ items, requires, verdict, why, tests = [] }) => {
    const answer = `${verdict[0].toUpperCase()}${verdict.slice(1)}${why === undefined ? '.' : `. ${why}`}`
    return `| ${items} | ${requires} | ${answer} | ${tests.join('; ')} |`
  })
  const introduction = text === undefined ? '' : `${text}\n\n`
  return `## ${title}\n\n${introduction}| Item | Requirement | Answer | Test |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`
}
