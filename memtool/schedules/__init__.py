"""The weekly run, started by the system: systemd, launchd, cron, Windows."""
