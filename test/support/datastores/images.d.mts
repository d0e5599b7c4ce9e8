export function keptImage(name: string, make: (path: string) => unknown): Promise<string>

export function postgresImage(
  bin: string,
  args: readonly string[],
  identity: { readonly uid: number; readonly gid: number } | undefined,
): Promise<string>
