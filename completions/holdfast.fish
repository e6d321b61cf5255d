# Completion for holdfast(1) in fish: verbs, options, their values, the names of locks that are held, and for `run` and
# `elect` the command. The lists of verbs and options come from the tool itself.
#
# Whoever may write to the server chooses the names of locks, so nothing here evaluates what it reads, and the tool that
# is asked is always the one on the PATH: no file runs because TAB was pressed after `./holdfast`.

function __holdfast_verb --description 'The verb on the command line, if it is already there'
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --url --url-file --password-file --password-command
                set -e words[1]
            case '-*'
            case '*'
                echo $words[1]
                return
        end
        set -e words[1]
    end
    return 1
end

function __holdfast_options --description 'The options of the verb: the option, the word for its value, what it does'
    set -l verb (__holdfast_verb)
    command holdfast help $verb 2>/dev/null </dev/null | command awk -v quote="'" '
        /^  +-/ {
            letter = $1 ~ /,$/ ? substr($1, 1, 2) : ""
            name = letter ? $2 : $1
            value = letter ? $3 : $2
            gsub(quote, "", value)
            if (value !~ /^[A-Z]+$/) value = ""
            text = substr($0, 30)
            if (letter) print letter "\t" value "\t" text
            print name "\t" value "\t" text
        }'
end

function __holdfast_value --description 'The kind of value that the option before the cursor takes'
    set -l words (commandline -opc)
    string match -q -- '-*' $words[-1]; or return 1
    for line in (__holdfast_options)
        set -l parts (string split \t -- $line)
        if test "$words[-1]" = "$parts[1]"; and string length -q -- $parts[2]
            echo $parts[2]
            return
        end
    end
    return 1
end

function __holdfast_command_begins --description 'True after the -- of run or elect'
    contains -- -- (commandline -opc); and contains -- (__holdfast_verb; or true) run elect
end

function __holdfast_takes_name --description 'True if the verb is about a lock, whose name it takes'
    command holdfast help $argv[1] 2>/dev/null </dev/null | command grep -q '^holdfast .* NAME'
end

# The names of locks, but only plain ones, which mean the same in quotes and without, in every shell and locale: these
# characters, a letter, digit or underscore first (no option, no path), and nothing like the URL of a server. Asking must
# not take long, nor start a server.
function __holdfast_names
    string match -q -- 'local:*' "$HOLDFAST_URL"; and return
    set -l current (commandline -ct | string replace -r '^["\']' '')
    string match -qr -- '^[A-Za-z0-9_.:/@,+-]*\z' "$current"; or return
    command timeout 1 holdfast ls -q -- "$current*" 2>/dev/null </dev/null |
        string match -r -- '^(?!.*//)[A-Za-z0-9_][A-Za-z0-9_.:/@,+-]{0,199}\z'
end

function __holdfast_completions
    set -l verb (__holdfast_verb)
    switch (__holdfast_value; or true)
        case KIND
            printf '%s\n' lock fenced fair simple
            test "$verb" = acquire; or printf '%s\n' spin read-write
            contains -- "$verb" acquire run; or printf '%s\n' permit
            test "$verb" = inspect; and printf '%s\n' semaphore latch
        case KINDS
            printf '%s\n' lock fenced fair simple spin read-write permit semaphore latch all
        case SEVERITY
            printf '%s\n' danger warning note unknown
        case SIGNAL
            printf '%s\n' term int hup quit usr1 usr2
        case WHAT
            printf '%s\n' term kill warn
        case URL
            printf '%s\n' redis:// rediss:// redis+sentinel:// rediss+sentinel:// redis+cluster:// rediss+cluster:// unix:// local:
        case NAME
            __holdfast_names
        case FILE
            __fish_complete_path (commandline -ct)
        case ''
            if string match -q -- '-*' (commandline -ct)
                for line in (__holdfast_options)
                    set -l parts (string split \t -- $line)
                    printf '%s\t%s\n' $parts[1] $parts[3]
                end
            else if contains -- "$verb" '' help
                command holdfast help --verbs 2>/dev/null </dev/null | string replace : \t
                test -z "$verb"; and printf '%s\t%s\n' help 'options, exit codes and examples of a verb'
            else if __holdfast_takes_name "$verb"
                __holdfast_names
            end
    end
end

complete -c holdfast -f -n 'not __holdfast_command_begins' -a '(__holdfast_completions)'
complete -c holdfast -n __holdfast_command_begins -a '(__fish_complete_subcommand --commandline (string split -m1 " -- " -- (commandline -cp))[2])'
