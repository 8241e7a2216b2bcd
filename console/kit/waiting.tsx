import { useEffect, useState } from 'preact/hooks'
import { waiting } from '../api/client.ts'

/** Counts down while requests wait for a limit, or for the service. */
export function Waiting() {
  const [now, setNow] = useState(Date.now())
  const current = waiting.value
  useEffect(() => {
    if (current === undefined) return undefined
    setNow(Date.now())
    const timer = setInterval(() => {
      setNow(Date.now())
    }, 1000)
    return () => {
      clearInterval(timer)
    }
  }, [current])
  if (current === undefined) return <div role="status" />
  const seconds = Math.max(0, Math.ceil((current.until - now) / 1000))
  return (
    <div role="status" class="waiting">
      {current.reason} Trying again in {seconds} s.
    </div>
  )
}
