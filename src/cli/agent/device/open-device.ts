import type { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { aliasOf } from '../system/own-links.ts'
import { requireNetAdmin } from '../system/privileges.ts'
import { runProgram } from '../system/run-program.ts'
import { deviceFault } from './device-fault.ts'
import type { Device, DeviceOptions } from './device.ts'
import type { Driver } from './driver.ts'
import { isKey, sameKey } from './keys.ts'
import { createLink, type Link, type LinkFacts } from './network-link.ts'
import { createManagedDevice } from './managed-device.ts'
import { requireFreePort } from './udp-port.ts'
import { createUapiDriver } from './uapi.ts'
import { createWgDriver } from './wg.ts'
import { endWireguardGo, isAnswering, removeStaleSocket, startWireguardGo, uapiPath } from './wireguard-go.ts'

const NAME = /^[a-z][a-z0-9_.-]{0,14}$/
const PORT_MAX = 65_535

/**
 * Opens the WireGuard interface of a node. One that the node owns is taken as it is, with its peers and sessions; else it is
 * made, with the kernel's WireGuard or with wireguard-go.
 *
 * @throws CliError where another program owns the interface or the UDP port, or where the machine lacks a right or a program.
 */
export async function openDevice(options: DeviceOptions): Promise<Device> {
  checkOptions(options)
  requireNetAdmin()
  const link = createLink(options.name, runProgram)
  const driver = (await adopt(options, link)) ?? (await make(options, link))
  const configure = async () => {
    await link.setAlias(aliasOf(options.owner))
    await configureKeys(driver, options)
    await link.setUp(options.mtu)
  }
  try {
    await configure()
  } catch (error) {
    // What cannot be configured is not left behind, except where it carries packets already.
    if ((await link.find())?.isUp !== true) await discard(driver, { link, name: options.name })
    throw error
  }
  return createManagedDevice({ options, link, driver, alias: aliasOf(options.owner) })
}

/**
 * Looks whether a node that is not there yet can have the interface and the UDP port.
 *
 * @throws CliError where another program owns one of them.
 */
export async function requireFreeDevice({
  name,
  listenPort,
}: Pick<DeviceOptions, 'name' | 'listenPort'>): Promise<void> {
  checkName(name)
  const found = await createLink(name, runProgram).find()
  if (found !== undefined) throw foreignInterface(name, found)
  if (listenPort !== 0) await requireFreePort(listenPort)
}

/**
 * Removes the interface of a node without opening it, with its routes and its wireguard-go. False: there is none.
 *
 * @throws CliError where the interface of that name is not the node's.
 */
export async function removeDevice({ name, owner }: Pick<DeviceOptions, 'name' | 'owner'>): Promise<boolean> {
  checkName(name)
  requireNetAdmin()
  const link = createLink(name, runProgram)
  const found = await link.find()
  if (found === undefined) {
    await removeStaleSocket(name)
    return false
  }
  requireOwned(name, found, owner)
  await link.remove()
  await endWireguardGo(name)
  return true
}

/** The driver of the interface that is there; undefined: it has to be made. */
async function adopt({ name, owner, isUserspace }: DeviceOptions, link: Link): Promise<Driver | undefined> {
  const found = await link.find()
  if (found === undefined) return undefined
  requireOwned(name, found, owner)
  if (found.kind === 'wireguard' && !isUserspace) return createWgDriver(name, runProgram)
  if (found.kind === 'tun' && (await isAnswering(name))) return createUapiDriver(uapiPath(name))
  await link.remove()
  // One that ends late would remove the socket of the next.
  if (found.kind === 'tun') await endWireguardGo(name)
  return undefined
}

async function make({ name, isUserspace, logFile }: DeviceOptions, link: Link): Promise<Driver> {
  if (!isUserspace && (await link.addWireguard())) return createWgDriver(name, runProgram)
  await startWireguardGo(name, logFile)
  return createUapiDriver(uapiPath(name))
}

async function configureKeys(driver: Driver, { privateKey, listenPort }: DeviceOptions): Promise<void> {
  const record = await driver.read()
  // 0 is any port, also the one that it has.
  const isPortKept = listenPort === 0 || record.listenPort === listenPort
  if (!isPortKept) await requireFreePort(listenPort)
  if (isPortKept && sameKey(record.privateKey, privateKey)) return
  await driver.edit({ privateKey, ...(isPortKept ? {} : { listenPort }) })
}

async function discard(driver: Driver, { link, name }: { readonly link: Link; readonly name: string }): Promise<void> {
  await link.remove()
  if (driver.kind === 'wireguard-go') await endWireguardGo(name)
}

function requireOwned(name: string, { kind, alias }: LinkFacts, owner: string): void {
  if (alias === aliasOf(owner) && (kind === 'wireguard' || kind === 'tun')) return
  throw foreignInterface(name, { alias })
}

function foreignInterface(name: string, { alias }: Pick<LinkFacts, 'alias'>): CliError {
  return deviceFault(`There is an interface ${name} that does not belong to this agent; it was not touched.`, {
    code: 'interface_taken',
    exitCode: EXIT.conflict,
    hint: alias?.startsWith(aliasOf('')) === true ? wayAround(name) : removalOf(name),
  })
}

function wayAround(name: string): string {
  return `It is that of another agent of this machine: choose another name with --interface, and another port with --listen-port. Where no agent has it any more: ip link del ${name}`
}

function removalOf(name: string): string {
  return `Choose another name with --interface, or remove it where it is not needed: ip link del ${name}`
}

function checkOptions({ name, owner, privateKey, listenPort }: DeviceOptions): void {
  checkName(name)
  if (!/^[\w-]{1,64}$/.test(owner)) throw deviceFault('The id of the node has characters that no id has.')
  if (!isKey(privateKey)) throw deviceFault('The private key is not 32 bytes.')
  if (!Number.isInteger(listenPort) || listenPort < 0 || listenPort > PORT_MAX) {
    throw deviceFault(`${listenPort} is not a UDP port.`, { code: 'usage', exitCode: EXIT.usage })
  }
}

function checkName(name: string): void {
  if (NAME.test(name)) return
  throw deviceFault(`${JSON.stringify(name)} is not a name for an interface.`, {
    code: 'usage',
    exitCode: EXIT.usage,
    hint: 'A name has up to 15 of a-z, 0-9, "_", "." and "-", and begins with a letter.',
  })
}
