/** Programs that run another program. Those with `before` are looked through: the inner command needs a rule too. */
import type { ProgramRow } from './flag-table.js';

export const WRAPPER_ROWS: readonly ProgramRow[] = [
  {
    programs: 'env',
    executes:
      '-S --split-string -i --ignore-environment -u --unset -C --chdir --default-signal --block-signal',
    operands: 'command',
  },
  {
    programs: 'timeout gtimeout',
    valued: 'ks',
    only: '-k -s -f -p -v --kill-after --signal --foreground --preserve-status --verbose',
    operands: 'command',
    before: 1,
  },
  {
    programs: 'nice',
    valued: 'n',
    only: '-n --adjustment',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'ionice',
    valued: 'cn',
    only: '-c -n -t --class --classdata --ignore',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'nohup setsid unbuffer',
    only: '-c -f -w --ctty --fork --wait',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'stdbuf',
    valued: 'ioe',
    only: '-i -o -e --input --output --error',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'time gtime',
    writes: '-o --output -a --append',
    valued: 'fo',
    only: '-f -v -p -q --format --verbose --portability --quiet',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'command',
    executes: '-p',
    only: '-v -V',
    operands: 'command',
    before: 0,
  },
  {
    programs: 'caffeinate',
    valued: 'tw',
    only: '-d -i -m -s -u -t -w',
    operands: 'command',
    before: 0,
  },
  {
    programs:
      'sudo doas su runuser pkexec chroot unshare nsenter bwrap firejail systemd-run machinectl capsh setpriv newgrp sg gosu su-exec start-stop-daemon daemonize chrt taskset',
    operands: 'always',
  },
  {
    programs:
      'xargs gxargs parallel watch entr script strace ltrace gdbserver perf valgrind flock at batch crontab screen tmux dtach ld.so proot fakeroot rlwrap ssh-agent dbus-run-session xvfb-run run-parts hyperfine nodemon concurrently chronic ts',
    operands: 'always',
  },
];
