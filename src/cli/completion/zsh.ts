import type { OutlinedFlag, Place } from './outline.ts'

/** The completion script for zsh. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef ctl
# zsh completion for ctl; generated, do not edit
# Put it into a directory of $fpath as _ctl: ctl completion install

# Sets what may follow the command words in $1.
_ctl_at() {
  subs=() flags=() valued=() files=() choices=() named=() asks=()
  case "$1" in
${places.map(placeCase).join('\n')}
    (*) return 1 ;;
  esac
}

# Sets \`choices\` to what the value of flag $2 of the command $1 may be.
_ctl_values() {
  case "$1 $2" in
${places.flatMap(valueCases).join('\n')}
    (*) return 1 ;;
  esac
}

# Offers what \`ctl __complete\` answers for the line up to the cursor. It has 300 ms and never fails aloud.
_ctl_names() {
  local -a offers shown
  local offer line="\${(j: :)words[1,CURRENT-1]} \${PREFIX:-\${words[CURRENT]}}"
  for offer in "\${(@f)$(ctl __complete zsh "$line" 2>/dev/null)}"; do
    [[ -n $offer ]] || continue
    offers+=("\${offer%%$'\\t'*}")
    shown+=("\${offer%%$'\\t'*}  -- \${offer#*$'\\t'}")
  done
  (( \${#offers} )) && compadd -l -d shown -- $offers
}

_ctl() {
  local -a subs flags valued files choices names named asks
  local at='' word skip='' before="\${words[CURRENT-1]}"
  _ctl_at ''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ $word == -* ]]; then
      (( \${valued[(Ie)$word]} )) && skip=1
      continue
    fi
    names=(\${subs%%:*})
    (( \${names[(Ie)$word]} )) || break
    at="\${at:+$at }$word"
    _ctl_at "$at"
  done
  if [[ $before == -* ]] && (( \${valued[(Ie)$before]} )); then
    if _ctl_values "$at" "$before"; then compadd -- $choices
    elif (( \${files[(Ie)$before]} )); then _files
    elif (( \${named[(Ie)$before]} )); then _ctl_names
    fi
    return
  fi
  if [[ \${words[CURRENT]} == --*=* ]]; then
    (( \${named[(Ie)\${words[CURRENT]%%=*}]} )) && _ctl_names
  elif [[ \${words[CURRENT]} == -* ]]; then
    _describe -o 'flag' flags
  else
    (( \${#choices} )) && compadd -- $choices
    (( \${#subs} )) && _describe 'command' subs
    (( \${#asks} )) && _ctl_names
  fi
  return 0
}

if [[ $funcstack[1] == _ctl ]]; then _ctl "$@"; else compdef _ctl ctl; fi
`
}

function placeCase({ path, children, flags, choices, names: asks }: Place): string {
  const valued = flags.filter(({ takesValue }) => takesValue)
  const sets = [
    ['subs', children.map(({ word, summary }) => quoted(`${word}:${summary}`))],
    ['flags', flags.map(({ name, describe }) => quoted(`--${name}:${describe}`))],
    ['valued', valued.flatMap(spellings)],
    ['files', valued.filter(({ isFile }) => isFile).flatMap(spellings)],
    ['choices', choices.map(quoted)],
    ['named', valued.filter(({ names }) => names).flatMap(spellings)],
    ['asks', asks ? ['yes'] : []],
  ] as const
  const assignments = sets
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}=(${words.join(' ')})`)
  return `    ('${path}') ${assignments.join(' ')} ;;`
}

function valueCases({ path, flags }: Place): readonly string[] {
  return flags
    .filter(({ choices }) => choices.length > 0)
    .map(
      (flag) =>
        `    (${spellings(flag)
          .map((word) => quoted(`${path} ${word}`))
          .join('|')}) choices=(${flag.choices.map(quoted).join(' ')}) ;;`,
    )
}

function spellings({ name, short }: OutlinedFlag): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
