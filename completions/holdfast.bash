# Completion for holdfast(1) in bash: verbs, options, their values, the names of locks that are held, and for `run` and
# `elect` the command. The lists of verbs and options come from the tool itself.
#
# Whoever may write to the server chooses the names of locks, so nothing here evaluates what it reads: no eval, no script
# with a text put into it, no list that is split or expanded. The tool that is asked is always the one on the PATH:
# a file in a folder of somebody else does not run because TAB was pressed after `./holdfast`.

# The options of a verb, or of the tool, one on a line: `--name`, or `--name WHAT` if it takes a value.
_holdfast_options() {
  command holdfast help "$@" 2>/dev/null </dev/null | command awk -v quote="'" '
    /^  +-/ {
      letter = $1 ~ /,$/ ? substr($1, 1, 2) : ""
      name = letter ? $2 : $1
      value = letter ? $3 : $2
      gsub(quote, "", value)
      value = value ~ /^[A-Z]+$/ ? " " value : ""
      if (letter) print letter value
      print name value
    }'
}

_holdfast_verbs() {
  command holdfast help --verbs 2>/dev/null </dev/null | command cut -d : -f 1
}

# True if the verb is about a lock, whose name it takes.
_holdfast_takes_name() {
  command holdfast help "$1" 2>/dev/null </dev/null | command grep -q '^holdfast .* NAME'
}

# Offers those of the further words that begin with the first.
_holdfast_offer() {
  local each
  for each in "${@:2}"; do
    [[ $each == "$1"* ]] && COMPREPLY+=("$each")
  done
}

# Offers the names of locks, but only plain ones, which mean the same in quotes and without, in every shell and locale:
# these characters, a letter, digit or underscore first (no option, no path), and nothing like the URL of a server.
# Asking must not take long, nor start a server.
_holdfast_offer_names() {
  local first=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ name
  local plain="$first.:/@,+-"
  local -a names
  [[ $HOLDFAST_URL == local:* || $1 == *[!"$plain"]* ]] && return
  mapfile -t names < <(command timeout 1 holdfast ls -q -- "$1*" 2>/dev/null </dev/null)
  for name in "${names[@]}"; do
    [[ $name == ["$first"]* && $name != *[!"$plain"]* && $name != *//* && ${#name} -le 200 ]] && COMPREPLY+=("$name")
  done
}

_holdfast() {
  local line=${COMP_LINE:0:COMP_POINT} verb= divided= needs_value= current previous= quote= word value=
  local IFS=$' \t\n'
  local -a words options kinds verbs
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ $needs_value ]]; then
      needs_value=
    elif [[ $word == --url || $word == --url-file || $word == --password-@(file|command) ]]; then
      needs_value=1
    elif [[ -z $verb && $word != -* ]]; then
      verb=$word
    elif [[ $verb == @(run|elect) && $word == -- ]]; then
      divided=1
    fi
  done

  COMPREPLY=()
  if [[ $divided ]]; then
    local -i i=1
    while ((i < ${#COMP_WORDS[@]})) && [[ ${COMP_WORDS[i]} != -- ]]; do i+=1; done
    if declare -F _command_offset >/dev/null; then
      ((i + 1 < ${#COMP_WORDS[@]})) && _command_offset $((i + 1))
    else
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
    fi
    return
  fi

  ((${#words[@]} > 2)) && previous=${words[-2]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  # Readline ends the quotes itself.
  if [[ $current == [\'\"]* ]]; then
    quote=${current:0:1}
    current=${current:1}
  fi
  mapfile -t options < <(_holdfast_options ${verb:+"$verb"})
  if [[ $previous == -* ]]; then
    for word in "${options[@]}"; do
      [[ $word == "$previous "* ]] && value=${word#"$previous "}
    done
  fi
  case $value in
    KIND)
      kinds=(lock fenced fair simple)
      [[ $verb == acquire ]] || kinds+=(spin read-write)
      [[ $verb == @(acquire|run) ]] || kinds+=(permit)
      [[ $verb == inspect ]] && kinds+=(semaphore latch)
      _holdfast_offer "$current" "${kinds[@]}" ;;
    KINDS) _holdfast_offer "$current" lock fenced fair simple spin read-write permit semaphore latch all ;;
    SEVERITY) _holdfast_offer "$current" danger warning note unknown ;;
    SIGNAL) _holdfast_offer "$current" term int hup quit usr1 usr2 ;;
    WHAT) _holdfast_offer "$current" term kill warn ;;
    NAME) _holdfast_offer_names "$current" ;;
    FILE)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    URL) _holdfast_offer "$current" redis:// rediss:// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// unix:// local: ;;
    '') case $current in
      -*) _holdfast_offer "$current" "${options[@]%% *}" ;;
      *) case $verb in
        '' | help)
          mapfile -t verbs < <(_holdfast_verbs)
          [[ $verb ]] || verbs+=(help)
          _holdfast_offer "$current" "${verbs[@]}" ;;
        *) _holdfast_takes_name "$verb" && _holdfast_offer_names "$current" ;;
      esac ;;
    esac ;;
  esac

  # What readline has split off must not be repeated.
  if [[ -z $quote && $current == *[:@]* ]]; then
    local split= before
    [[ $COMP_WORDBREAKS == *:* ]] && split+=:
    [[ $COMP_WORDBREAKS == *@* ]] && split+=@
    before=${current%"${current##*["$split"]}"}
    [[ $split ]] && COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
}
complete -F _holdfast holdfast
