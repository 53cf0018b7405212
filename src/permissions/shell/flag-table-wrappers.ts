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
    operands: 'command',
    before: 1,
  },
  {
    programs: 'nice ionice chrt taskset nohup setsid stdbuf time gtime command unbuffer caffeinate',
    executes: '-o --output -p --pid',
    valued: 'ncfioes',
    operands: 'command',
    before: 0,
  },
  {
    programs:
      'sudo doas su runuser pkexec chroot unshare nsenter bwrap firejail systemd-run machinectl capsh setpriv newgrp sg gosu su-exec start-stop-daemon daemonize',
    operands: 'always',
  },
  {
    programs:
      'xargs gxargs parallel watch entr script strace ltrace gdbserver perf valgrind flock at batch crontab screen tmux dtach ld.so proot fakeroot rlwrap ssh-agent dbus-run-session xvfb-run run-parts hyperfine nodemon concurrently chronic ts',
    operands: 'always',
  },
];
