import { newDomain } from '../../support/clients/api.ts'
import { useService } from '../../support/harness.ts'
import { test } from '../../support/serial.ts'

const service = useService()

const SYNTAX =
  'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
  'underscores. The last label may not contain an underscore.'
const UNDERSCORE = 'Domain names may not begin with an underscore.'
const TOO_LONG = 'Ensure this field has no more than 191 characters.'
const EXISTS = 'domain with this name already exists.'
const BLANK = 'This field may not be blank.'
const NULL = 'This field may not be null.'
const NO_STRING = 'Not a valid string.'
const notLowercase = (name: string) => `Invalid value (not lowercase): ${name}`

/** A name of `length` characters, in labels of 63 at most. */
function nameOf(length: number, letter = 'a'): string {
  return `${letter.repeat(50)}.`.repeat(3) + letter.repeat(length - 153)
}

/** Examples; test/service/availability.test.ts compares many more with a model. */
const WRONG: [name: unknown, texts: string[]][] = [
  ['', [BLANK]],
  [null, [NULL]],
  [true, [NO_STRING]],
  [['a.test'], [NO_STRING]],
  [{ a: 'test' }, [NO_STRING]],
  ['a\0b.test', ['Null characters are not allowed.']],
  ['a\ud800.test', ['Surrogate characters are not allowed: U+D800.']],
  ['COM', [notLowercase('COM')]],
  ['foo.test.', [SYNTAX]],
  ['foo._test', [SYNTAX]],
  ['_foo.test', [UNDERSCORE]],
  [nameOf(192), [TOO_LONG]],
  ['FOO..test', [notLowercase('FOO..test'), SYNTAX]],
  ['_Foo.test.', [notLowercase('_Foo.test.'), SYNTAX, UNDERSCORE]],
  [nameOf(192, 'A'), [notLowercase(nameOf(192, 'A')), TOO_LONG]],
  [`_A${nameOf(190)}.`, [notLowercase(`_A${nameOf(190)}.`), SYNTAX, UNDERSCORE, TOO_LONG]],
]

for (const [name, texts] of WRONG) {
  const json = JSON.stringify(name)
  test(`the name ${json.length < 40 ? json : `${json.slice(0, 40)}… (${json.length})`} is refused: ${texts.join(' ').slice(0, 60)}`, async (t) => {
    const { api } = await service().account()
    const answer = await api.post('/domains/', { name })
    t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ name: texts })])
    t.is((await api.get('/domains/')).text, '[]')
  })
}

test('a name is required', async (t) => {
  const { api } = await service().account()
  const answer = await api.post('/domains/', {})
  t.deepEqual([answer.status, answer.text], [400, '{"name":["This field is required."]}'])
})

const RIGHT = [
  'foo.lan',
  'a.b.c.d.names.test',
  'a_b.names-1.test',
  '-.test',
  '1.2.3.4',
  'xn--bcher-kva.test',
  `${'a'.repeat(63)}.test`,
  nameOf(191),
]

for (const name of RIGHT) {
  test(`${name.length < 40 ? name : `a name of ${name.length} characters`} is accepted`, async (t) => {
    const { api } = await service().account()
    const answer = await api.post('/domains/', { name })
    t.is(answer.status, 201, answer.text)
    t.is((answer.json as { name: string }).name, name)
    t.is((await api.get(`/domains/${name}/`)).text, answer.text)
  })
}

test('a number is read as its digits', async (t) => {
  const { api } = await service().account()
  const answer = await api.post('/domains/', { name: 12.5 })
  t.deepEqual([answer.status, (answer.json as { name: string }).name], [201, '12.5'])
})

test('creating a domain twice is refused because it exists', async (t) => {
  const { api } = await service().account()
  const name = await newDomain(api)
  const answer = await api.post('/domains/', { name })
  t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ name: [EXISTS] })])
})

test("another account's domain is reported as existing, not as conflicting", async (t) => {
  const { api } = await service().account()
  const name = await newDomain((await service().account()).api)
  const answer = await api.post('/domains/', { name })
  t.deepEqual([answer.status, answer.text], [400, JSON.stringify({ name: [EXISTS] })])
})
