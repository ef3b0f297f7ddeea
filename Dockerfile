# memtool's service, its weekly runner and its command line in one image. `docs/serve.md` says how to use it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/memtool && /opt/memtool/bin/pip install --no-cache-dir '.[serve,schedule,vectors,llm,postgres]'

FROM python:3.13-slim
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends git openssh-client && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 1000 --create-home memtool \
 && install -d -o memtool -g memtool /vault /cache /clones
COPY --from=build /opt/memtool /opt/memtool
ENV PATH=/opt/memtool/bin:$PATH MEMTOOL_VAULT=/vault MEMTOOL_CACHE=/cache MEMTOOL_CONFIG=/config/config.toml \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 1000
VOLUME ["/vault", "/cache"]
EXPOSE 47474
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:47474/health', timeout=4)"]
STOPSIGNAL SIGTERM
# A new volume becomes a vault; one that is a vault already stays as it is.
CMD ["sh", "-c", "[ -f /vault/memtool.toml ] || memtool init /vault && exec memtool serve --host 0.0.0.0 --port 47474"]
