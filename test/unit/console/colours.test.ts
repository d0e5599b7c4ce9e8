import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const style = readFileSync(new URL('../../../src/console/style.css', import.meta.url), 'utf8')

/** The colours of the two schemes, by name. */
const [light = new Map(), dark = new Map()] = Array.from(
  style.matchAll(/:root \{([^}]*)\}/g),
  ([, block = '']) =>
    new Map(Array.from(block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name, hex]) => [name, hex])),
)

/** Of a colour, as WCAG 2.2 defines it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(left: string, right: string): number {
  const [more = 0, less = 0] = [luminance(left), luminance(right)].toSorted((a, b) => b - a)
  return (more + 0.05) / (less + 0.05)
}

describe.each([
  ['light', light],
  ['dark', dark],
])('the colours of the %s scheme', (_, colours) => {
  const onCard = (name: string) => contrast(String(colours.get(name)), String(colours.get('card')))

  test.each(['text', 'muted', 'accent', 'failure'])('have 4.5:1 for %s', (name) => {
    expect(onCard(name)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['edge', 'field', 'healthy', 'stale', 'unreachable', 'never'])(
    'have 3:1 for what is drawn as %s',
    (name) => {
      expect(onCard(name)).toBeGreaterThanOrEqual(3)
    },
  )
})

test('an example in a field has the colour of other muted text', () => {
  expect(style).toMatch(/::placeholder \{\s*color: var\(--muted\);\s*opacity: 1;/)
})
