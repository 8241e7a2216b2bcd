import test from 'ava'

// Hangs on purpose: test/run.test.ts looks at what the test command does then.

test.serial('the last one that ends', (t) => {
  t.pass()
})

test.serial('a test that hangs', async (t) => {
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30))
  t.pass()
})
