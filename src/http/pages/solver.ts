/**
 * The script that solves a captcha (ALTCHA's PoW v2). It tries counters until the derived key has the prefix in the
 * challenge, puts the payload into the hidden input, and enables the button.
 */
export const SOLVER = `
const input = document.querySelector('[data-challenge]')
const button = input.form.querySelector('button')
const status = document.querySelector('[role=status]')
const challenge = JSON.parse(input.dataset.challenge)
const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters

const fromHex = (text) => Uint8Array.from(text.match(/../g), (digits) => parseInt(digits, 16))
const toHex = (buffer) => Array.from(new Uint8Array(buffer), (octet) => octet.toString(16).padStart(2, '0')).join('')

async function derive(counter) {
  const password = fromHex(nonce + counter.toString(16).padStart(8, '0'))
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt: fromHex(salt), iterations: cost }
  return toHex(await crypto.subtle.deriveBits(parameters, key, 8 * keyLength))
}

async function solve() {
  const label = button.textContent
  button.textContent = 'Please wait'
  status.textContent = 'Your browser is proving that you are not a robot. This takes a few seconds.'
  let counter = 0
  let derivedKey = await derive(counter)
  while (!derivedKey.startsWith(keyPrefix)) derivedKey = await derive(++counter)
  input.value = btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }))
  button.disabled = false
  button.textContent = label
  status.textContent = 'Your browser has proved that you are not a robot. You can continue now.'
}

if (crypto.subtle) solve()
else status.textContent = 'Your browser has to prove that you are not a robot. It can do so only over https.'
`
