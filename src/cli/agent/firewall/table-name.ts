import { usageError } from '../../errors/cli-error.ts'

/** At most 15 bytes (IFNAMSIZ). The rules of nftables read a name that ends in `*` as a prefix. */
const INTERFACE_NAME = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,14}$/

/**
 * The nftables table of an interface. Identifiers of nftables have no hyphen, and interface names have no slash.
 *
 * @throws CliError where the name is no interface name that the agent takes.
 */
export function tableNameOf(interfaceName: string): string {
  return `ctl_${checkedInterface(interfaceName).replaceAll('-', '/')}`
}

/** The name as it came. @throws CliError where rules would read it as something else than one interface. */
export function checkedInterface(interfaceName: string): string {
  if (INTERFACE_NAME.test(interfaceName)) return interfaceName
  throw usageError(
    `${JSON.stringify(interfaceName)} is no name for an interface.`,
    'Use 1 to 15 of: letters, digits, _ . -',
  )
}
