import { useEffect } from 'preact/hooks'
import { link, linking } from '../api/sign-on.ts'

/** Links the identity for which somebody has signed in, and says what became of it. */
export function Linking() {
  useEffect(() => void link(), [])
  return (
    <p class="note" role="status">
      {linking.value?.code === undefined ? linking.value?.text : 'Linking…'}
    </p>
  )
}
