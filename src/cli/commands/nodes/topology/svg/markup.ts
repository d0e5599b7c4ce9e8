import { harmless } from '../../../../output/style.ts'
import { fitted } from '../../../../output/width.ts'

/** A text between tags or inside quotes: control characters, which XML forbids, become visible escapes. */
export function xml(text: string): string {
  return harmless(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Names longer than this are cut; the tooltip has all of them. */
const LABEL_CHARACTERS = 24

/** A name as pictures show it. */
export function label(name: string): string {
  return xml(fitted(harmless(name), LABEL_CHARACTERS))
}

/** About as wide as a label is drawn, in px, at so many px a letter. */
export function labelWidth(names: readonly string[], fontSize: number): number {
  const longest = Math.max(0, ...names.map((name) => Math.min(LABEL_CHARACTERS, harmless(name).length)))
  return Math.ceil(longest * fontSize * 0.62)
}

/** A number with a digit after the point at most: pictures need no more, and stay small. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10)
}
