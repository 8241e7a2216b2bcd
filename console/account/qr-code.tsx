import { useEffect, useState } from 'preact/hooks'
import type { encode, QrCodeGenerateResult } from 'uqr'

/** The package that makes QR codes, which console/build.mjs bundles apart. */
declare const QR_MODULE: string

/**
 * A QR code, dark on light in every colour scheme, as cameras expect it. What makes it is loaded when it is first needed;
 * if that fails, there is none. @param label what it contains
 */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [code, setCode] = useState<QrCodeGenerateResult>()
  useEffect(() => {
    // Four light modules around it (ISO/IEC 18004 §6.3.8).
    import(QR_MODULE).then(
      (qr: { encode: typeof encode }) => {
        setCode(qr.encode(text, { border: 4 }))
      },
      () => undefined,
    )
  }, [text])
  if (code === undefined) return null
  const { size, data } = code
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={modules.join('')} />
    </svg>
  )
}
