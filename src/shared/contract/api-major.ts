import type { Surface } from './operation.ts'

/** The first segment of the paths of one major version. */
export type ApiMajor = `v${number}`

/**
 * The major version of a contract. One document describes one of them (S1 Versioning 1).
 *
 * @throws Error where the paths of the contract begin with different ones.
 */
export function apiMajorOf(contract: { readonly [key: string]: Pick<Surface, 'operations'> }): ApiMajor {
  const paths = Object.values(contract).flatMap(({ operations }) => Object.values(operations).map(({ path }) => path))
  const majors = new Set(paths.map((path) => path.split('/')[1] ?? ''))
  const [major = 'v1', ...others] = majors
  if (others.length > 0) throw new Error(`a contract of ${[...majors].join(' and ')} is not of one major version`)
  // `Operation.path` begins with it.
  return major as ApiMajor
}
