// pm2 start deploy/ecosystem.config.cjs && pm2 save && pm2 startup
module.exports = {
  apps: [
    {
      name: "weighbeam-validator",
      script: "/opt/weighbeam/bin/weighbeam",
      args: "run validator --config /etc/weighbeam/validator.toml",
      interpreter: "none",
      cwd: "/var/lib/weighbeam",
      autorestart: true,
      restart_delay: 5000,
      kill_timeout: 60000,
      env: { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" },
    },
  ],
};
