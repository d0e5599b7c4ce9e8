/**
 * The address of a file of this package, by its path from the package's folder. It holds wherever this module runs:
 * among the sources, compiled, or in the built command line or server, which are all two folders deep.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}

/** The address of a file that the build writes beside the compiled folders. */
export function builtFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}
