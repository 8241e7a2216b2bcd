import test from 'ava'
import type { Account } from '../../support/accounts.ts'
import { newDomain } from '../../support/api.ts'
import { useService } from '../../support/harness.ts'

// Contract §1.4, for the fields name, subname, type, ttl and records.

const service = useService()

let account: Account
let domain: string

test.before('an account with a domain', async () => {
  account = await service().account()
  domain = await newDomain(account.api)
})

const NOT_A_STRING = 'Not a valid string.'
const NULL = 'This field may not be null.'
const BLANK = 'This field may not be blank.'
const REQUIRED = 'This field is required.'
const NUL = 'Null characters are not allowed.'
const INTEGER = 'A valid integer is required.'
const long = (most: number) => `Ensure this field has no more than ${most} characters.`
const list = (type: string) => `Expected a list of items but got type "${type}".`

const DOMAIN_SYNTAX =
  'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and ' +
  'underscores. The last label may not contain an underscore.'
const SUBNAME_SYNTAX =
  "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not " +
  'exceed 63 characters.'
const TYPE_SYNTAX = 'Type must be uppercase alphanumeric and start with a letter.'

/** A field, its value as JSON, and its problems. */
const wrong: [field: string, json: string, texts: string[]][] = [
  ['name', 'null', [NULL]],
  ['name', '""', [BLANK]],
  ['name', 'true', [NOT_A_STRING]],
  ['name', 'false', [NOT_A_STRING]],
  ['name', '[]', [NOT_A_STRING]],
  ['name', '["a.test"]', [NOT_A_STRING]],
  ['name', '{}', [NOT_A_STRING]],
  ['name', '" a.test"', [DOMAIN_SYNTAX]],
  ['name', '"a.test "', [DOMAIN_SYNTAX]],
  ['name', '" "', [DOMAIN_SYNTAX]],
  ['name', '"a.test\\n"', [DOMAIN_SYNTAX]],
  ['name', '1.5e300', [DOMAIN_SYNTAX]],
  ['name', '"a\\u0000.test"', [NUL]],
  ['name', '"\\u0000"', [NUL]],
  ['name', '"\\ud800.test"', ['Surrogate characters are not allowed: U+D800.']],
  ['name', '"a\\udfff"', ['Surrogate characters are not allowed: U+DFFF.']],
  ['name', '"\\udc00\\ud800"', ['Surrogate characters are not allowed: U+DC00.']],
  ['name', '"ä.test"', [DOMAIN_SYNTAX]],
  ['name', '"Ä.test"', ['Invalid value (not lowercase): Ä.test', DOMAIN_SYNTAX]],
  ['name', '"\\ud83d\\udca9.test"', [DOMAIN_SYNTAX]],
  ['name', `"${'a.'.repeat(94)}test"`, [long(191)]],

  ['subname', 'null', [NULL]],
  ['subname', 'true', [NOT_A_STRING]],
  ['subname', '["a"]', [NOT_A_STRING]],
  ['subname', '{"a":1}', [NOT_A_STRING]],
  ['subname', '"a\\u0000"', [NUL]],
  ['subname', '"\\ud800"', ['Surrogate characters are not allowed: U+D800.']],
  ['subname', '"a b"', [SUBNAME_SYNTAX]],
  ['subname', '1.5e300', [SUBNAME_SYNTAX]],
  ['subname', '"A"', ['Invalid value (not lowercase): A', SUBNAME_SYNTAX]],
  ['subname', `"${'a.'.repeat(89)}a"`, [long(178)]],

  ['type', 'null', [NULL]],
  ['type', '""', [BLANK]],
  ['type', '" \\t "', [BLANK]],
  ['type', 'true', [NOT_A_STRING]],
  ['type', '[]', [NOT_A_STRING]],
  ['type', '{}', [NOT_A_STRING]],
  ['type', '1', [TYPE_SYNTAX]],
  ['type', '"A\\u0000"', [NUL]],
  ['type', '"\\udbff"', ['Surrogate characters are not allowed: U+DBFF.']],
  ['type', '"ABCDEFGHIJK"', [long(10)]],
  ['type', '"txt"', ['Invalid value (not uppercase): txt', TYPE_SYNTAX]],

  ['ttl', 'null', [NULL]],
  ['ttl', 'true', [INTEGER]],
  ['ttl', 'false', [INTEGER]],
  ['ttl', '""', [INTEGER]],
  ['ttl', '" "', [INTEGER]],
  ['ttl', '"x"', [INTEGER]],
  ['ttl', '"60x"', [INTEGER]],
  ['ttl', '"0x40"', [INTEGER]],
  ['ttl', '"6e1"', [INTEGER]],
  ['ttl', '"true"', [INTEGER]],
  ['ttl', '60.5', [INTEGER]],
  ['ttl', '"60.5"', [INTEGER]],
  ['ttl', '"60.01"', [INTEGER]],
  ['ttl', '[60]', [INTEGER]],
  ['ttl', '{}', [INTEGER]],
  ['ttl', '1e400', [INTEGER]],
  ['ttl', '"\\u0000"', [INTEGER]],
  ['ttl', '"\\ud800"', [INTEGER]],
  ['ttl', '"٦٠"', [INTEGER]],
  ['ttl', `"${'1'.repeat(1000)}"`, ['Ensure this value is less than or equal to 86400.']],
  ['ttl', `"${'1'.repeat(1001)}"`, ['String value too large.']],
  ['ttl', `"${'x'.repeat(1001)}"`, ['String value too large.']],
  ['ttl', '86401', ['Ensure this value is less than or equal to 86400.']],
  ['ttl', '9007199254740993', ['Ensure this value is less than or equal to 86400.']],
  ['ttl', '1e300', ['Ensure this value is less than or equal to 86400.']],
  ['ttl', '-1e300', ['Ensure this value is greater than or equal to 60.']],
  ['ttl', '59', ['Ensure this value is greater than or equal to 60.']],
  ['ttl', '0', ['Ensure this value is greater than or equal to 60.']],
  ['ttl', '-3600', ['Ensure this value is greater than or equal to 60.']],
  ['ttl', '"-1.0"', ['Ensure this value is greater than or equal to 60.']],

  ['records', 'null', [NULL]],
  ['records', '"192.0.2.1"', [list('str')]],
  ['records', '""', [list('str')]],
  ['records', '1', [list('int')]],
  ['records', '1.5', [list('float')]],
  ['records', 'true', [list('bool')]],
  ['records', '{}', [list('dict')]],
  ['records', '{"0":"192.0.2.1","length":1}', [list('dict')]],
  ['records', '[]', ['This field must not be empty when using POST.']],
  ['records', '[1]', ['Item 0: Must be a string.']],
  ['records', '[true]', ['Item 0: Must be a string.']],
  ['records', '[["192.0.2.1"]]', ['Item 0: Must be a string.']],
  ['records', '[{}]', ['Item 0: Must be a string.']],
  ['records', '[null]', ['Item 0: This field may not be null.']],
  ['records', '[""]', ['Item 0: This field may not be blank.']],
  ['records', '[" \\t\\r\\n "]', ['Item 0: This field may not be blank.']],
  ['records', '["a\\u0000"]', ['Item 0: Null characters are not allowed.']],
  ['records', '["\\ud800"]', ['Item 0: Surrogate characters are not allowed: U+D800.']],
  [
    'records',
    '["192.0.2.1",1,"192.0.2.2",null,""]',
    ['Item 1: Must be a string.', 'Item 3: This field may not be null.', 'Item 4: This field may not be blank.'],
  ],
]

const abbreviated = (json: string) => (json.length > 60 ? `${json.slice(0, 40)}… of ${json.length} characters` : json)

for (const [field, json, texts] of wrong) {
  test.serial(`${field}: ${abbreviated(json)} is refused`, async (t) => {
    const others = { type: '"A"', ttl: '60', records: '["192.0.2.1"]' }
    const members = field === 'name' ? { name: json } : { ...others, [field]: json }
    const path = field === 'name' ? '/domains/' : `/domains/${domain}/rrsets/`
    const { status, text } = await send('POST', path, object(members))
    t.deepEqual([status, text], [400, JSON.stringify({ [field]: texts })])
  })
}

let count = 0

/** A field, its value as JSON, and the value that is read. */
for (const [field, json, value] of [
  ['subname', '" n1 "', 'n1'],
  ['subname', '"\\t\\nn2\\u00a0"', 'n2'],
  ['subname', '7', '7'],
  ['subname', '1.25', '1.25'],
  ['subname', '-3', '-3'],
  ['type', '" TXT\\n"', 'TXT'],
  ['ttl', '60', 60],
  ['ttl', '86400', 86400],
  ['ttl', '3600.0', 3600],
  ['ttl', '3.6e3', 3600],
  ['ttl', '"3600"', 3600],
  ['ttl', '"3600.0"', 3600],
  ['ttl', '"3600.000"', 3600],
  ['ttl', '" 3600 "', 3600],
  ['ttl', '"+3600"', 3600],
  ['ttl', '"0003600"', 3600],
  ['ttl', `"${'3600'.padStart(1000, '0')}"`, 3600],
  ['records', '[" \\"x\\" "]', ['"x"']],
  ['records', '["\\r\\n\\"x\\"\\t"]', ['"x"']],
] as const) {
  test.serial(`${field}: ${abbreviated(json)} is accepted`, async (t) => {
    const others = { subname: `"a${count++}"`, type: '"TXT"', ttl: '60', records: '["\\"x\\""]' }
    const answer = await send('POST', `/domains/${domain}/rrsets/`, object({ ...others, [field]: json }))
    t.is(answer.status, 201, answer.text)
    t.deepEqual((answer.json as Record<string, unknown>)[field], value)
  })
}

test.serial('a domain name may be a number that is a valid name', async (t) => {
  const { status, json } = await send('POST', '/domains/', '{"name":1.5}')
  t.deepEqual([status, (json as { name: string }).name], [201, '1.5'])
})

test.serial('all missing required members are reported together', async (t) => {
  const missing = (...names: string[]) => JSON.stringify(Object.fromEntries(names.map((name) => [name, [REQUIRED]])))
  t.is((await send('POST', '/domains/', '{}')).text, missing('name'))
  t.is((await send('POST', `/domains/${domain}/rrsets/`, '{}')).text, missing('type', 'ttl', 'records'))
  const one = `/domains/${domain}/rrsets/@/NS/`
  t.is((await send('PUT', one, '{}')).text, missing('subname', 'type', 'ttl', 'records'))
})

test.serial('several fields and several texts per field are reported together', async (t) => {
  const body = { records: [null, 1], ttl: 'x', type: 'txt', subname: 'A' }
  const { status, text } = await account.api.post(`/domains/${domain}/rrsets/`, body)
  t.is(status, 400)
  t.is(
    text,
    JSON.stringify({
      subname: ['Invalid value (not lowercase): A', SUBNAME_SYNTAX],
      type: ['Invalid value (not uppercase): txt', TYPE_SYNTAX],
      ttl: [INTEGER],
      records: ['Item 0: This field may not be null.', 'Item 1: Must be a string.'],
    }),
  )
})

test.serial('unknown and read-only members are ignored, even when their values are invalid', async (t) => {
  const body = {
    ...{
      created: 'x',
      domain: 5,
      name: null,
      touched: [],
      id: {},
      '': null,
      __proto__: 1,
      constructor: 1,
      'a\0': '\ud800',
    },
    ...{ subname: 'ignoring', type: 'A', ttl: 60, records: ['192.0.2.1'] },
  }
  const { status, json } = await send('POST', `/domains/${domain}/rrsets/`, JSON.stringify(body))
  t.is(status, 201)
  t.is((json as { name: string }).name, `ignoring.${domain}.`)
  const name = `ignored.${domain}`
  const members = { created: 1, published: null, keys: 'x', minimum_ttl: 'x', touched: {}, owner: [] }
  t.is((await account.api.post('/domains/', { name, ...members })).status, 201)
})

test.serial("properties of JavaScript's Object.prototype do not count as members", async (t) => {
  const { text } = await send('POST', '/domains/', '{"__proto__":{"name":"a.test"}}')
  t.is(text, JSON.stringify({ name: [REQUIRED] }))
})

test.serial('the last value of a repeated member counts', async (t) => {
  const { text } = await send('POST', '/domains/', '{"name":"a.test","name":""}')
  t.is(text, JSON.stringify({ name: [BLANK] }))
})

/** A JSON object with these members, whose values are JSON already. */
function object(members: Record<string, string>): string {
  const pairs = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  return `{${pairs.join(',')}}`
}

function send(method: string, path: string, body: string) {
  return account.api.send(method, path, undefined, { body, headers: { 'content-type': 'application/json' } })
}
