import { useEffect, useState } from 'preact/hooks'
import type { Refused } from '../api/client.ts'
import { comeBack } from '../api/sign-on.ts'
import { Card } from '../kit/card.tsx'
import { Failure, refusedBy } from '../kit/loading.tsx'

/** Where the callback of single sign-on leads: the session begins, or the page says why not. */
export function SignedInPage() {
  const [problem, setProblem] = useState<Refused>()
  useEffect(() => {
    comeBack().catch((reason: unknown) => {
      setProblem(refusedBy(reason))
    })
  }, [])
  return (
    <Card title="Sign in">
      {problem === undefined ? <p class="quiet">Loading…</p> : <Failure problem={problem} />}
      <p class="ways">
        <a href="">Back to sign-in</a>
      </p>
    </Card>
  )
}
