import { admits } from './engines.mjs'

/**
 * Compares the dependencies with the newest that the registry has.
 *
 * @param outdated what `npm outdated --json` printed: `{ name: { current, wanted, latest } }`. npm leaves out what needs
 *   another Node than the one that runs it
 * @param newest the newest version of each package that is held back: `{ name: { version, engines: { node }? } }`
 * @param heldBack `{ name: { reason, needs_node? } }`; `needs_node` says that the newest version needs a newer
 *   Node than the oldest that is supported
 * @returns `{ rows, complaints }`: a row of text for each package that is not at its newest, and a sentence for each that has
 *   no reason, or a reason that no longer holds
 */
export function judge({ outdated, newest, heldBack }) {
  const found = Object.entries(outdated).map(([name, { current, latest }]) => ({ name, current, latest }))
  const others = Object.keys(heldBack).filter((name) => outdated[name] === undefined)
  const behind = [...found, ...others.map((name) => ({ name, current: '', latest: newest[name]?.version ?? '' }))]
  const rows = behind.map(({ name, current, latest }) => {
    const reason = heldBack[name]?.reason ?? 'can be updated'
    return [name, current, latest, reason].filter((cell) => cell !== '').join('  ')
  })
  const unexplained = found
    .filter(({ name }) => heldBack[name] === undefined)
    .map(({ name, current, latest }) => `${name} ${current} can be updated to ${latest}, or needs a reason.`)
  const stale = Object.entries(heldBack).flatMap(([name, held]) => staleness({ name, held, outdated, newest }))
  return { rows, complaints: [...unexplained, ...stale] }
}

/** Whether the reason why a package is held back is gone. */
function staleness({ name, held, outdated, newest }) {
  const { version, engines } = newest[name] ?? {}
  if (version === undefined) return [`${name} is held back, but the registry has no such package.`]
  if (held.needs_node !== undefined) {
    return !admits(engines?.node ?? '*')
      ? []
      : [`${name} is held back since it needs Node ${held.needs_node}, but ${version} does not.`]
  }
  return outdated[name] === undefined ? [`${name} is held back, but it is at its newest.`] : []
}
