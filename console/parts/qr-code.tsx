import { encode } from 'uqr'

/** A QR code, dark on light in every colour scheme, as cameras expect it. @param label what it contains */
export function QrCode({ text, label }: { text: string; label: string }) {
  // Four light modules around it (ISO/IEC 18004 §6.3.8).
  const { size, data } = encode(text, { border: 4 })
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={modules.join('')} />
    </svg>
  )
}
