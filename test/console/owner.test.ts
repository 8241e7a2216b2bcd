import test from 'ava'
import { domainToASCII } from 'node:url'
import { asciiName, ownerOf } from '../../console/model/owner.ts'
import { typedName } from '../../console/model/policies.ts'

test('labels in Unicode become the Punycode that the service has for them', (t) => {
  for (const name of [
    'bücher',
    'bücher.example',
    '*.bücher.example',
    '_dmarc.bücher',
    'straße',
    'ＡＢＣ.ü',
    '例え',
    'ü.1x',
  ]) {
    t.is(asciiName(` ${name.toUpperCase()} `), domainToASCII(name.toUpperCase().toLowerCase()), name)
  }
  t.deepEqual(ownerOf('Bücher', 'example.org'), { subname: 'xn--bcher-kva' })
  t.deepEqual(ownerOf('*.bücher.example.org.', 'example.org'), { subname: '*.xn--bcher-kva' })
  t.deepEqual(ownerOf('bücher', 'xn--bcher-kva'), { subname: '' })
  t.is(typedName('Bücher.Example.'), 'xn--bcher-kva.example')
})

test('what is no name in Unicode is refused', (t) => {
  for (const name of ['ü@x', 'ü/x', 'ü:1', 'ü?', 'ü#', 'ü\\x', 'ü x', 'ü／x', 'a%ü', '[ü]']) {
    t.true('problems' in ownerOf(name, 'example.org'), name)
  }
  // Numbers are not read as addresses.
  t.is(asciiName('１'), '1')
  for (const name of ['1', '0x7f', 'a_b', '*', '@', 'xn--bcher-kva']) t.is(asciiName(name), name)
})
