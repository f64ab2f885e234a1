#!/usr/bin/env bash
# setup.sh sim|gpu|docs|site-checks|arm64
# Installs what that purpose needs and is missing, with apt, dnf or brew. Quiet when nothing is missing.
# Never asks for a password: without root or a ready sudo it prints the one command to run and exits with 2.
set -eu
cd "$(dirname "$0")/../../.."

purpose=${1:-sim}
case $purpose in
  sim | gpu | docs | site-checks | arm64) ;;
  *) echo "setup.sh: '$purpose' is not a purpose; use sim, gpu, docs, site-checks or arm64" >&2; exit 2 ;;
esac

compiler=${CXX:-c++}
if command -v apt-get >/dev/null; then manager=apt
elif command -v dnf >/dev/null; then manager=dnf
elif command -v brew >/dev/null; then manager=brew
else manager=none
fi

missing=""  # package names, of this machine's package manager
reasons=""  # "fmt (text)", for people

# need APT DNF BREW "name (why)": remembers one missing package. "-" where a manager does not have it.
need() {
  local package
  case $manager in
    apt) package=$1 ;;
    dnf) package=$2 ;;
    brew) package=$3 ;;
    *) package=$1 ;;
  esac
  [ "$package" = - ] && return
  missing="$missing $package"
  reasons="${reasons:+$reasons, }$4"
}

have() { command -v "$1" >/dev/null; }

# A fresh machine has no package lists at all.
has_lists() { ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; }

# has_headers HEADER...: prints those that the compiler does not find.
absent_headers() {
  local header
  for header in "$@"; do
    printf '#if !__has_include(<%s>)\nABSENT %s\n#endif\n' "$header" "$header"
  done | "$compiler" -E -P -x c++ ${homebrew:+"-I$homebrew/include"} - 2>/dev/null | grep ABSENT || true
}

links_boost_context() {
  echo 'int main() {}' | "$compiler" -x c++ - ${homebrew:+"-L$homebrew/lib"} -lboost_context -o "$probe" 2>/dev/null
}

if [ "$purpose" = docs ]; then
  have doxygen || need doxygen doxygen doxygen "doxygen (the site)"
  have python3 || need python3 python3 python "Python 3 (the site's frame)"
  # Ubuntu 22.04 has no package of the theme: the site then has Doxygen's own look.
  if [ ! -d /usr/share/doxygen-awesome-css ] && [ $manager = apt ]; then
    if ! has_lists && [ "$(id -u)" = 0 ]; then apt-get update >/dev/null 2>&1 </dev/null || true; fi
    [ -z "$(apt-cache show doxygen-awesome-css 2>/dev/null)" ] || need doxygen-awesome-css - - "doxygen-awesome-css (the theme)"
  fi
elif [ "$purpose" = arm64 ]; then
  have aarch64-linux-gnu-g++ || need g++-aarch64-linux-gnu - - "a cross compiler for arm64"
  have qemu-aarch64-static || need qemu-user-static - - "qemu (runs programs of arm64)"
elif [ "$purpose" = site-checks ]; then
  # check-site.py says what is missing after this: a browser from elsewhere will do, and Ubuntu has none but a snap.
  if [ $manager = apt ] && ! has_lists && [ "$(id -u)" = 0 ]; then apt-get update >/dev/null 2>&1 </dev/null || true; fi
  if ! have chromium && ! have google-chrome; then
    if [ $manager != apt ] || [ -n "$(apt-cache show chromium 2>/dev/null)" ]; then
      need chromium chromium - "Chromium (looks at the site)"
      need chromium-driver chromedriver - "its driver"
    fi
  fi
  python3 -c 'import selenium' 2>/dev/null || /usr/bin/python3 -c 'import selenium' 2>/dev/null ||
    need python3-selenium python3-selenium - "selenium (drives the browser)"
  have gnuplot || need gnuplot-nox gnuplot gnuplot "gnuplot (draws the pictures again, to compare them)"
  [ -e build/tools/axe/axe.min.js ] || python3 -m pip --version >/dev/null 2>&1 || need python3-pip python3-pip - "pip (fetches axe-core)"
else
  homebrew=""
  [ $manager = brew ] && homebrew=$(brew --prefix)
  probe=$(mktemp)
  trap 'rm -f "$probe"' EXIT
  have cmake || need cmake cmake cmake "cmake (builds)"
  if have "$compiler"; then
    absent=$(absent_headers eigen3/Eigen/Core CLI/CLI.hpp fmt/format.h nlohmann/json.hpp catch2/catch.hpp \
                            catch2/catch_all.hpp boost/context/fiber.hpp seccomp.h)
  else
    need g++ gcc-c++ - "a C++ compiler"
    [ $manager = brew ] && { echo "No C++ compiler was found. Install Apple's with: xcode-select --install" >&2; exit 2; }
    absent="ABSENT eigen3/Eigen/Core CLI/CLI.hpp fmt/format.h nlohmann/json.hpp catch2/catch.hpp
            catch2/catch_all.hpp boost/context/fiber.hpp seccomp.h"
  fi
  case $absent in *Eigen*) need libeigen3-dev eigen3-devel eigen "Eigen (reference results)" ;; esac
  case $absent in *CLI*) need libcli11-dev cli11-devel cli11 "CLI11 (options)" ;; esac
  case $absent in *fmt*) need libfmt-dev fmt-devel fmt "fmt (text)" ;; esac
  case $absent in *nlohmann*) need nlohmann-json3-dev json-devel nlohmann-json "nlohmann-json (results)" ;; esac
  case $absent in *catch.hpp*catch_all*) need catch2 catch-devel catch2 "Catch2 (tests)" ;; esac
  if [ "$purpose" = sim ]; then
    # The headers may be there without the library.
    case $absent in
      *boost*) boost=missing ;;
      *) if have "$compiler" && links_boost_context; then boost=found; else boost=missing; fi ;;
    esac
    # Linux only: what keeps submissions in (common/grader).
    case $(uname) in Linux) case $absent in *seccomp*) need libseccomp-dev libseccomp-devel - "libseccomp (the grader's cage)" ;; esac ;; esac
    [ $boost = found ] || need libboost-context-dev boost-devel boost "Boost.Context (the simulator's threads)"
    # Only for programs that use it: when others are installed anyway, where there is such a package.
    [ -z "$missing" ] || [ $manager != apt ] || [ -z "$(apt-cache show libthrust-dev 2>/dev/null)" ] ||
      need libthrust-dev - - "Thrust (programs that include it)"
  fi
  # Not needed, only faster: worth a package when others are installed anyway.
  [ -z "$missing" ] || have ninja || need ninja-build ninja-build ninja "ninja (faster builds)"
fi

if [ -n "$missing" ]; then
  missing=${missing# }
  if [ $manager = none ]; then
    echo "Missing: $reasons." >&2
    echo "Neither apt, dnf nor brew was found. On Debian these packages are: $missing" >&2
    exit 2
  fi

  as_root=""
  if [ $manager != brew ] && [ "$(id -u)" != 0 ]; then
    if have sudo && sudo -n true 2>/dev/null; then
      as_root="sudo"
    else
      echo "Missing: $reasons." >&2
      case $manager in
        apt) echo "Please run: sudo apt-get update && sudo apt-get install -y $missing" >&2 ;;
        dnf) echo "Please run: sudo dnf install -y $missing" >&2 ;;
      esac
      exit 2
    fi
  fi

  echo "Installing with $manager, because it is missing: $reasons."
  mkdir -p build
  log=build/setup.log
  : >"$log"
  # shellcheck disable=SC2086  # package names are words
  install() {
    case $manager in
      apt) $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ;;
      dnf) $as_root dnf install -y $missing ;;
      brew) brew install $missing ;;
    esac >>"$log" 2>&1 </dev/null
  }
  update() { [ $manager != apt ] || $as_root apt-get update >>"$log" 2>&1 </dev/null; }

  # There may be no lists at all, or outdated ones.
  if [ $manager = apt ] && ! has_lists; then update || true; fi
  if ! install && ! { update && install; }; then
    tail -n 20 "$log" >&2
    echo "Installing failed; the whole log is $log. The packages are: $missing" >&2
    exit 1
  fi
fi

# axe-core, which knows the rules of accessible pages, is in no distribution; this Python package is axe.min.js with a wrapper.
if [ "$purpose" = site-checks ] && [ ! -e build/tools/axe/axe.min.js ]; then
  mkdir -p build/tools/axe
  if ! echo "axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8" >build/tools/axe/requirements.txt ||
    ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest build/tools/axe \
      --require-hashes -r build/tools/axe/requirements.txt >build/setup.log 2>&1 </dev/null ||
    ! python3 -c "import glob, zipfile
with zipfile.ZipFile(glob.glob('build/tools/axe/*.whl')[0]) as wheel:
    open('build/tools/axe/axe.min.js', 'wb').write(wheel.read('axe_playwright_python/axe.min.js'))"; then
    rm -f build/tools/axe/axe.min.js
    echo "axe-core could not be fetched; build/setup.log says why. The other checks of the site don't need it." >&2
  fi
fi
