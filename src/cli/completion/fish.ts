import type { OutlinedFlag, Place } from './outline.ts'

/** The completion script for fish. */
export function fishScript(places: readonly Place[]): string {
  const valued = new Set(places.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).flatMap(spellings)))
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `# fish completion for ctl; generated, do not edit
# Put it into ~/.config/fish/completions: ctl completion install

set -g __ctl_valued ${[...valued].join(' ')}
set -g __ctl_paths ${paths.join(' ')}

# Prints the command words typed so far.
function __ctl_path
    set -l at
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            contains -- $word $__ctl_valued; and set skip 1
        else if contains -- "$at $word" ' '$__ctl_paths
            set at "$at $word"
        else
            break
        end
    end
    string sub -s 2 -- "$at"
end

function __ctl_at
    set -l at (__ctl_path)
    test "$at" = "$argv"
end

# Prints what \`ctl __complete\` answers for the line up to the cursor. It has 300 ms and never fails aloud.
function __ctl_names
    ctl __complete fish (commandline -cp | string collect) 2>/dev/null
end

complete -c ctl -f
${places.flatMap(placeLines).join('\n')}
`
}

function placeLines({ path, children, flags, choices, names }: Place): readonly string[] {
  const at = `complete -c ctl -n ${quoted(`__ctl_at ${path}`.trimEnd())}`
  return [
    ...children.map(({ word, summary }) => `${at} -a ${word} -d ${quoted(summary)}`),
    ...(choices.length > 0 ? [`${at} -a ${quoted(choices.join(' '))}`] : []),
    ...(names ? [`${at} -a '(__ctl_names)'`] : []),
    ...flags.map((flag) => `${at} ${flagWords(flag)} -d ${quoted(flag.describe)}`),
  ]
}

function flagWords({ name, short, takesValue, choices, isFile, names }: OutlinedFlag): string {
  const spelled = short === undefined ? `-l ${name}` : `-l ${name} -s ${short}`
  if (!takesValue) return spelled
  if (choices.length > 0) return `${spelled} -x -a ${quoted(choices.join(' '))}`
  if (names) return `${spelled} -x -a '(__ctl_names)'`
  return isFile ? `${spelled} -r -F` : `${spelled} -x`
}

function spellings({ name, short }: OutlinedFlag): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
