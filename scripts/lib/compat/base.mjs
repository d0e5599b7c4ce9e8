/** Where the contract lies, and what it is compared with where history has nothing to compare it with. */
export const CONTRACT = 'docs/contract/openapi.json'
export const RELEASED = 'docs/contract/released.json'

/** What a branch leaves, where nobody says. */
const DEFAULT_BRANCHES = ['origin/main', 'main']

/** A reason to stop: the gate fails, or is left out. */
export class NoBase extends Error {
  constructor(outcome, message) {
    super(message)
    this.name = 'NoBase'
    /** `failed` or `skipped`. */
    this.outcome = outcome
  }
}

/**
 * Finds what the working tree is compared with (S1 Versioning 7): the contract at the merge-base with the base branch;
 * on that branch itself, and where the merge-base is older than the gate, the contract of the last release as HEAD has it.
 *
 * @returns {{ text: string, commit: string, words: string }} the document, the commit whose exceptions were there before
 * @throws NoBase
 */
export function findBase(repository, env) {
  const name = baseBranch(repository, env)
  if (name === undefined) return released(repository, 'no base branch is here and none is named')
  const mergeBase = repository.mergeBase(name, 'HEAD')
  if (mergeBase === undefined) {
    throw new NoBase('failed', `HEAD and ${name} share no history; a shallow clone has to be deepened.`)
  }
  if (mergeBase === repository.commit('HEAD')) return released(repository, `HEAD itself is the merge-base with ${name}`)
  const text = repository.fileAt(mergeBase, CONTRACT)
  if (text === undefined) return released(repository, `${name} at ${mergeBase.slice(0, 9)} has no ${CONTRACT}`)
  return { text, commit: mergeBase, words: `${CONTRACT} at ${mergeBase.slice(0, 9)}, the merge-base with ${name}` }
}

/** The branch that is named, or the first of the usual ones; undefined in CI when nothing is named and none is there. */
function baseBranch(repository, { CTL_COMPAT_BASE: named, CI }) {
  const isNamed = named !== undefined && named !== ''
  const found = (isNamed ? [named] : DEFAULT_BRANCHES).find((name) => repository.commit(name) !== undefined)
  if (found !== undefined) return found
  if (!CI) throw new NoBase('skipped', `${isNamed ? named : DEFAULT_BRANCHES.join(' and ')} does not resolve here.`)
  if (isNamed) throw new NoBase('failed', `The base ${named} does not resolve.`)
  return undefined
}

function released(repository, why) {
  if (isItself(repository)) {
    throw new NoBase('failed', `${RELEASED} and ${CONTRACT} are one file: the contract would be compared with itself.`)
  }
  // As committed: what a change does to the file does not decide about the change.
  const commit = repository.commit('HEAD')
  const text = repository.fileAt('HEAD', RELEASED)
  if (commit === undefined || text === undefined) {
    throw new NoBase('failed', `${why}, and HEAD has no ${RELEASED}: run npm run release-contract and commit it.`)
  }
  return { text, commit, words: `${RELEASED} as committed, since ${why}` }
}

/** Two names of one file. Equal contents are none: a release has just been made. */
function isItself(repository) {
  return (
    repository.isSameFile(RELEASED, CONTRACT) ||
    [RELEASED, CONTRACT].some((path) => repository.isLink(path) || repository.isLinkAt('HEAD', path))
  )
}
