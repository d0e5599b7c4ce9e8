import { afterEach, describe, expect, test } from 'vitest'
import { type NamesBox, startNamesBox } from '../../../support/names/names-box.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const isRoot = process.getuid?.() === 0
const WEB = [
  { name: 'web-1', address: '100.64.0.1' },
  { name: 'web-2', address: '100.64.0.2' },
]

let box: NamesBox

afterEach(() => box.close())

/** What a program of the box finds, without a line end; empty where it finds nothing. */
const found = async (name: string) =>
  (await box.shell(`getent ahostsv4 ${name} | awk 'NR == 1 { print $1 }'`)).stdout.trim()

describe.runIf(isRoot)('a machine without split DNS', () => {
  test('whose resolv.conf names the resolver finds nodes by name', async () => {
    box = await startNamesBox('auto', 'echo nameserver 127.0.0.153 > /etc/resolv.conf')
    await box.publish(WEB)
    expect(await box.status()).toMatchObject({ way: 'resolver-only', listen: '127.0.0.153:53' })
    expect(await found('web-2.mesh')).toBe('100.64.0.2')
    expect(await found('nope.mesh')).toBe('')
    expect((await box.shell('getent hosts 100.64.0.2')).stdout).toMatch(/\sweb-2\.mesh\n$/)
  })

  test('finds nodes by name with the hosts file, which is as before in the end', async () => {
    box = await startNamesBox('hosts', 'cp -p /etc/hosts /run/hosts; echo nameserver 192.0.2.1 > /etc/resolv.conf')
    await box.publish(WEB)
    expect(await box.status()).toEqual({ way: 'hosts-file', fault: undefined })
    expect(await found('web-2.mesh')).toBe('100.64.0.2')
    expect((await box.shell('getent hosts 100.64.0.2')).stdout).toMatch(/\sweb-2\.mesh\n$/)
    await box.remove()
    expect(
      (await box.shell('cmp /etc/hosts /run/hosts && stat -c "%a %u %g" /etc/hosts /run/hosts | uniq | wc -l')).stdout,
    ).toBe('1\n')
  })
})

const resolved = requirement('systemd-resolved')

/** Runs systemd-resolved on a bus of the box, with a second interface that has a default route. */
const RESOLVED = `
mkdir -p /run/dbus /run/systemd/resolve /run/systemd/netif
grep -q ^systemd-resolve: /etc/passwd || echo systemd-resolve:x:990:990::/:/usr/sbin/nologin >> /etc/passwd
grep -q ^systemd-resolve: /etc/group || echo systemd-resolve:x:990: >> /etc/group
chown systemd-resolve:systemd-resolve /run/systemd/resolve
cp ${resolved}/usr/share/dbus-1/system.d/org.freedesktop.resolve1.conf /etc/dbus-1/system.d/
ln -s ${resolved}/usr/bin/resolvectl /usr/local/sbin/
ip link add up0 type veth peer name up0-far
ip address add 192.0.2.2/24 dev up0
ip link set up0 up
ip link set up0-far up
ip route add default via 192.0.2.1
echo nameserver 127.0.0.53 > /etc/resolv.conf
dbus-daemon --system --nopidfile --nosyslog --fork
${resolved}/lib/systemd/systemd-resolved 2>/run/resolved.log &
until resolvectl status >/dev/null 2>&1; do :; done
`

describe.skipIf(!isRoot || resolved === undefined)('a machine with systemd-resolved', () => {
  test('finds nodes by name, asks nothing else of the resolver, and is as before in the end', async () => {
    box = await startNamesBox('auto', RESOLVED)
    await box.publish(WEB)
    expect(await box.status()).toEqual({ way: 'systemd-resolved', listen: '127.0.0.153:53' })
    expect(await found('web-2.mesh')).toBe('100.64.0.2')
    expect(await found('nope.mesh')).toBe('')
    expect((await box.shell('resolvectl query example.com')).stderr).toContain('No appropriate name servers')
    expect((await box.shell('resolvectl domain ctl0; resolvectl default-route ctl0')).stdout).toMatch(
      /: ~mesh\n.*: no\n$/,
    )
    await box.remove()
    expect(await found('web-2.mesh')).toBe('')
    expect((await box.shell('resolvectl domain ctl0; resolvectl dns ctl0')).stdout).toMatch(
      /\(ctl0\):\s*\n.*\(ctl0\):\s*\n$/,
    )
  })

  test('learns a new address within seconds', async () => {
    box = await startNamesBox('auto', RESOLVED)
    await box.publish(WEB)
    expect(await found('web-2.mesh')).toBe('100.64.0.2')
    expect(await found('web-3.mesh')).toBe('')
    await box.publish([
      { name: 'web-2', address: '100.64.0.9' },
      { name: 'web-3', address: '100.64.0.3' },
    ])
    await expect.poll(() => found('web-3.mesh'), { timeout: 6_000 }).toBe('100.64.0.3')
    await expect.poll(() => found('web-2.mesh'), { timeout: 12_000 }).toBe('100.64.0.9')
  })

  test('finds nodes again once the interface was created again', async () => {
    box = await startNamesBox('auto', RESOLVED)
    await box.publish(WEB)
    await box.shell(
      'ip link delete ctl0; ip link add ctl0 type veth peer name ctl0-far; ip address add 100.64.0.1/32 dev ctl0; ip link set ctl0 up; ip link set ctl0-far up',
    )
    await expect.poll(() => found('web-2.mesh'), { timeout: 10_000 }).toBe('')
    await expect
      .poll(
        async () => {
          await box.publish(WEB)
          return found('web-2.mesh')
        },
        { timeout: 10_000 },
      )
      .toBe('100.64.0.2')
  })
})
