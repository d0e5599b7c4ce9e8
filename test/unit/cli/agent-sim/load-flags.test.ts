import { expect, test } from 'vitest'
import { assertOpenFiles } from '../../../../src/cli/agent-sim/open-files.ts'
import { assertOneFleet, connectionsOf, workersOf } from '../../../../src/cli/agent-sim/load-flags.ts'
import { planOf } from '../../../../src/cli/agent-sim/plan-of-flags.ts'
import { assertLocal, createRotation, sourceAddressesOf } from '../../../../src/cli/agent-sim/source-addresses.ts'

test.each([
  [{ light: true, edges: 2 }, 'light agents do nothing for --edges: leave out either --light or --edges'],
  [{ light: true, scenario: 'f.yaml' }, 'light agents do nothing for --scenario'],
  [{ connections: 'own' }, '--connections own needs --light'],
  [{ 'source-addresses': ['127.0.0.2'] }, '--source-addresses needs --light'],
])('%o is refused', async (flags, message) => {
  await expect(planOf(flags)).rejects.toThrow(message)
})

test('connections are a number, or own', () => {
  expect([connectionsOf({}), connectionsOf({ connections: '8' }), connectionsOf({ connections: 'own' })]).toEqual([
    64,
    8,
    'own',
  ])
  expect(() => connectionsOf({ connections: '0' })).toThrow('--connections takes a whole number from 1 to 20000')
  expect(() => connectionsOf({ connections: 'mine' })).toThrow('--connections takes a whole number, or own')
})

test('bridges are made for one Domain in one process', () => {
  const share = { id: undefined, nodes: 2 }
  expect(() => assertOneFleet({ bridges: 1 }, [[share], [share]])).toThrow('--bridges needs one Domain and one process')
  expect(() => assertOneFleet({ bridges: 1 }, [[share]])).not.toThrow()
  expect(() => assertOneFleet({}, [[share, share]])).not.toThrow()
})

test('there are no more processes than nodes', () => {
  expect(workersOf({}, 1)).toBe(1)
  expect(() => workersOf({ workers: 3 }, 2)).toThrow('--workers takes a whole number from 1 to 2')
})

const NEEDS = { nodes: 90_000, nodesOfProcess: 90_000, hasStreams: true }

test('too many nodes for the limit of open files are refused, with the number of processes that it takes', () => {
  expect(() => assertOpenFiles({ ...NEEDS, connections: 'own' }, 20_000)).toThrow(
    '90000 nodes need 180320 open files in one process, and its limit is 20000: give --workers 10, or raise the limit (ulimit -n)',
  )
  expect(() => assertOpenFiles({ ...NEEDS, connections: 64 }, 20_000)).toThrow('give --workers 5, or raise')
  expect(() => assertOpenFiles({ ...NEEDS, nodesOfProcess: 9_000, connections: 'own' }, 20_000)).not.toThrow()
  expect(() => assertOpenFiles({ ...NEEDS, hasStreams: false, connections: 64 }, 1_024)).not.toThrow()
  expect(() => assertOpenFiles({ ...NEEDS, connections: 64 }, 300)).toThrow('its limit is 300: raise the limit')
})

test('source addresses are addresses and the hosts of networks, and come in turn', () => {
  const addresses = sourceAddressesOf(['::1', '127.0.1.8/30', '10.0.0.1/32'])
  expect(addresses).toEqual(['::1', '127.0.1.9', '127.0.1.10', '10.0.0.1'])
  const next = createRotation(addresses)
  expect([1, 2, 3, 4, 5].map(next)).toEqual([...addresses, '::1'])
  expect(createRotation([])()).toBeUndefined()
})

test.each(['127.0.0.0/8', 'localhost', '127.0.0.1/', '::1/128'])('%s is no source address', (text) => {
  expect(() => sourceAddressesOf([text])).toThrow(`--source-addresses takes addresses and networks such as 127.0.0.2`)
})

test('an address that this machine does not have is refused by name', async () => {
  await expect(assertLocal(['127.0.0.1', '192.0.2.1'])).rejects.toThrow(
    '--source-addresses: this machine has no 192.0.2.1',
  )
})
