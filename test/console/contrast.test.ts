import test from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COLOURS } from '../../src/http/pages/page.ts'
import { projectFolder } from '../../src/installation/project.ts'

// Whoever sees little, or sits in the sun, reads every text: WCAG 2.2, 1.4.3 (text) and 1.4.11 (edges of inputs), for each
// pair of tokens that can meet, in both schemes.

const TEXTS = ['text', 'quiet', 'accent', 'accent-strong', 'added', 'changed', 'removed']
const FAMILIES = ['address', 'alias', 'mail', 'words', 'delegation', 'service', 'trust']
const SURFACES = ['ground', 'raised', 'sunken', 'hover', 'accent-tint', 'added-tint', 'changed-tint', 'removed-tint']

/** The part of its colour in the ground of a badge (style/parts.css). */
const BADGE_TINT = 0.12

const PAIRS: [what: string, surface: string, least: number][] = [
  ...[...TEXTS, ...FAMILIES].flatMap((text) =>
    SURFACES.map((surface) => [text, surface, 4.5] as [string, string, number]),
  ),
  ...['accent', 'accent-strong'].map((surface) => ['on-accent', surface, 4.5] as [string, string, number]),
  ['on-tray', 'tray', 4.5],
  ...['ground', 'raised', 'sunken', 'hover', 'accent-tint'].map(
    (surface) => ['line-strong', surface, 3] as [string, string, number],
  ),
]

/** The colours of the tokens by name: of the light scheme, and of the dark one. */
function tokens(): Map<string, [light: string, dark: string]> {
  const text = readFileSync(join(projectFolder(), 'console', 'style', 'tokens.css'), 'utf8')
  const found = text.matchAll(/--([a-z-]+): (?:light-dark\()?(#[\da-f]{6})(?:, (#[\da-f]{6})\))?;/g)
  return new Map([...found].map(([, name, light, dark = light]) => [name!, [light!, dark!]]))
}

/** The relative luminance of a colour (WCAG 2.2). */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

const colours = tokens()

test('the service’s own pages have the colours of the console', (t) => {
  for (const [, name, light, dark] of COLOURS.matchAll(/--([a-z-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g))
    t.deepEqual([light, dark], colours.get(name!), name)
})

for (const [i, scheme] of ['light', 'dark'].entries()) {
  test(`in the ${scheme} scheme, each text and each edge of an input stands out from each surface`, (t) => {
    const tooWeak = PAIRS.flatMap(([what, surface, least]) => {
      const ratio = contrast(colours.get(what)![i]!, colours.get(surface)![i]!)
      return ratio < least ? [`${what} on ${surface}: ${ratio.toFixed(2)}`] : []
    })
    t.deepEqual(tooWeak, [])
  })
}

/** A colour of a part of another one, as color-mix() in srgb makes it. @param part of 1 */
function mixed(colour: string, part: number, ground: string): string {
  const octets = [1, 3, 5].map((at) => {
    const [over, under] = [colour, ground].map((each) => Number.parseInt(each.slice(at, at + 2), 16))
    return Math.round(part * over! + (1 - part) * under!)
  })
  return `#${octets.map((octet) => octet.toString(16).padStart(2, '0')).join('')}`
}

test('a badge of a type is read on its tint', (t) => {
  for (const [i] of ['light', 'dark'].entries()) {
    for (const family of FAMILIES) {
      const colour = colours.get(family)![i]!
      const ratio = contrast(colour, mixed(colour, BADGE_TINT, colours.get('raised')![i]!))
      t.true(ratio >= 4.5, `${family}: ${ratio.toFixed(2)}`)
    }
  }
})

test('no colour is left out: each token is a text, a surface, a line, or what lies on one', (t) => {
  const known = new Set([...PAIRS.flatMap(([what, surface]) => [what, surface]), 'line'])
  t.deepEqual(
    [...colours.keys()].filter((name) => !known.has(name)),
    [],
  )
})
